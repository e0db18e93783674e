import { constants } from "node:os";

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (isStopping) process.exit(128 + constants.signals[signal]);
      isStopping = true;
      resolve(signal);
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}
