import type { Clock } from "../ports/clock.ts";
import { EngineError } from "../ports/engine-error.ts";

/** How often failures of the store are reported: they affect every step. */
export const STORE_TROUBLE_EVERY_MS = 60_000;

/**
 * Reports failures; those of the store once a minute for each code: they stop every step in the
 * same way, and on a full disk there should not be a line for each retry.
 */
export function troubleLog(
  tell: ((message: string) => void) | undefined,
  clock: Pick<Clock, "now">,
): (message: string, error: unknown) => void {
  const told = new Map<string, { at: number; silenced: number }>();
  return (message, error) => {
    const code = error instanceof EngineError ? error.code : "";
    if (!code.startsWith("store/")) {
      tell?.(message);
      return;
    }
    const last = told.get(code);
    const now = clock.now();
    if (last && now - last.at < STORE_TROUBLE_EVERY_MS) {
      last.silenced += 1;
      return;
    }
    told.set(code, { at: now, silenced: 0 });
    const more = last?.silenced ? ` (${last.silenced} more of this kind since the last one.)` : "";
    tell?.(`${message}${more}`);
  };
}
