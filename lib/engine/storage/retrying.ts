/** Optimistic writes: one way to try again, one rule for the pause between tries, one error at the end. */
import { EngineError } from "../../ports/engine-error.ts";
import type { World } from "../world.ts";

/** A try that another writer overtook, or that the store asked to repeat later. */
export class Again {
  readonly afterMs: number | undefined;
  constructor(afterMs?: number) {
    this.afterMs = afterMs;
  }
}

/** The try is repeated after the pause that a busy store asked for, or else after a short one. */
export const again = (refused: object = {}): Again =>
  new Again("retryAfterMs" in refused ? Number(refused.retryAfterMs) : undefined);

export type Tries = Readonly<{
  tries: number;
  /** Names the writer: writers that meet at one item come back at different moments. */
  writer?: string;
}>;

/** Repeats `attempt` until it holds; throws `engine/busy` when its tries are used up. */
export async function retrying<T>(
  world: Pick<World, "clock">,
  { where, ...tries }: Tries & Readonly<{ where: string }>,
  attempt: (tried: number) => Promise<T | Again>,
): Promise<T> {
  const result = await tryRepeatedly(world, tries, attempt);
  if (result instanceof Again) throw engineBusy(where);
  return result;
}

/** The same for callers that have another way: gives the last `Again` when the tries are used up. */
export async function tryRepeatedly<T>(
  { clock }: Pick<World, "clock">,
  { tries, writer }: Tries,
  attempt: (tried: number) => Promise<T | Again>,
): Promise<T | Again> {
  for (let tried = 0; ; tried++) {
    const result = await attempt(tried);
    if (!(result instanceof Again) || tried + 1 >= tries) return result;
    await clock.pause(result.afterMs ?? pauseMs(tried, writer));
  }
}

/** Longer with every try, and spread by the writer's name. */
export function pauseMs(tried: number, writer?: string): number {
  if (writer === undefined) return 2 + tried;
  let mixed = tried;
  for (let n = 0; n < writer.length; n++) mixed = (mixed * 31 + writer.charCodeAt(n)) % 9_973;
  return 2 + (mixed % (20 + 10 * tried));
}

export const engineBusy = (where: string): EngineError => new EngineError("engine/busy", { where });
