import { endGroups } from "../run-command.ts";

/**
 * When this process gets a signal to end, running commands are ended, `undo` runs, and then the
 * process ends: nothing that it started may outlive it. Further signals meanwhile, as from a
 * terminal and a parent at once, are ignored. Returns whether it is ending: a failure then is
 * caused by that.
 */
export function endBySignal(undo: () => Promise<void>): () => boolean {
  let isEnding = false;
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(signal, () => {
      if (isEnding) return;
      isEnding = true;
      endGroups()
        .then(undo)
        .catch((cause: unknown) => console.error(String(cause)))
        .finally(() => process.exit(code));
    });
  }
  return () => isEnding;
}
