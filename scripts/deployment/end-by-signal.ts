/** Runs `undo` and ends when somebody tells this process to end; what it began must not outlive it. */
export function endBySignal(undo: () => Promise<void>): void {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.once(signal, () => {
      undo()
        .catch((cause: unknown) => console.error(String(cause)))
        .finally(() => process.exit(code));
    });
  }
}
