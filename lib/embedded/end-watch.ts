import { type Instance, isTerminal } from "../kernel/instance.ts";

/** Resolves waits for the end of an instance, without polling. */
export type EndWatch = Readonly<{
  tell(instance: Instance): void;
  /** Resolves when the instance ends, or when time is up. Read the instance after calling. */
  wait(instanceId: string, timeoutMs: number): Readonly<{ ended: Promise<void>; stop(): void }>;
  /** The engine closes: all waits end. */
  close(): void;
}>;

/** A timer of Node with a longer delay fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function endWatch(): EndWatch {
  const waiting = new Map<string, Set<() => void>>();
  return {
    tell(instance) {
      if (!isTerminal(instance)) return;
      for (const resolve of waiting.get(instance.id) ?? []) resolve();
    },
    wait(instanceId, timeoutMs) {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const stop = () => {
        clearTimeout(timeout);
        const others = waiting.get(instanceId);
        others?.delete(finish);
        if (others?.size === 0) waiting.delete(instanceId);
        resolve();
      };
      const finish = () => stop();
      const timeout = setTimeout(finish, Math.min(timeoutMs, MAX_TIMER_MS));
      const all = waiting.get(instanceId) ?? new Set();
      waiting.set(instanceId, all.add(finish));
      return { ended, stop };
    },
    close() {
      for (const all of waiting.values()) for (const resolve of [...all]) resolve();
    },
  };
}
