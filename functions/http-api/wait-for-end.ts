import type { Engine } from "../../lib/engine/engine.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";

/** A function is billed while it waits, so it waits this long at most; the caller retries. */
export const MAX_WAIT_MS = 2_000;

/** A function is not notified of the end of an instance: it polls, with a backoff. */
export function waitForEnd(
  engine: Pick<Engine, "result">,
  clock: Clock,
): (instanceId: string, ms: number) => Promise<void> {
  return async (instanceId, ms) => {
    const until = clock.now() + Math.min(ms, MAX_WAIT_MS);
    for (let pauseMs = 100; ; pauseMs *= 2) {
      const left = until - clock.now();
      if (left <= 0) return;
      await clock.pause(Math.min(pauseMs, left));
      if (await hasEnded(engine, instanceId)) return;
    }
  };
}

async function hasEnded(engine: Pick<Engine, "result">, instanceId: string): Promise<boolean> {
  try {
    await engine.result(instanceId);
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.code === "instance/not-ended") return false;
    throw error;
  }
}
