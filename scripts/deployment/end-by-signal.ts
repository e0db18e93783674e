import { endGroups } from "../run-command.ts";

/**
 * When this process gets a signal to end, the commands under way end, `undo` runs, and then it ends
 * itself: what it began must not outlive it. Told again meanwhile, as by a terminal and by a parent
 * at once, it goes on with that. Gives whether it is ending: what fails then fails because of that.
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
