/**
 * Runs `undo` and ends when somebody tells this process to end; what it began must not outlive it.
 * Told again meanwhile, as by a terminal and by a parent at once, it goes on with that.
 */
export function endBySignal(undo: () => Promise<void>): void {
  let isEnding = false;
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(signal, () => {
      if (isEnding) return;
      isEnding = true;
      undo()
        .catch((cause: unknown) => console.error(String(cause)))
        .finally(() => process.exit(code));
    });
  }
}
