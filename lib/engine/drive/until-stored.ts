/**
 * Holds on to what came of a task while the store cannot take it. With queues in memory a step that
 * fails would run the handler again, though this process knows its outcome: the write is repeated
 * instead. The handlers at work bound how many wait here, and no further ones begin meanwhile.
 */
import { MAX_HELD_PAUSE_MS } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { World } from "../world.ts";

export async function untilStored<T>(
  world: World,
  about: string,
  write: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await write();
    } catch (error) {
      if (world.settings.host.queuesSurvive || !mayPass(error)) throw error;
      if (failures === 0) world.onTrouble?.(`${about} is held until it can be stored`, error);
      await world.clock.pause(Math.min(100 * 2 ** failures, MAX_HELD_PAUSE_MS));
    }
  }
}

const mayPass = (error: unknown): boolean => error instanceof EngineError && error.retryable;
