/** The numbers of a recovery, as they come in, and which items need an operator. */
import { MAX_TROUBLES_TOLD } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Key } from "../../ports/store.ts";
import type { RecoveryReport, RecoveryTrouble } from "../../shapes/reports.ts";
import { placeOf } from "../storage/items.ts";
import { instanceIdOf } from "../storage/keys.ts";
import { isUnreadable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** A report that is being written. */
export type Tally = { -readonly [K in keyof Omit<RecoveryReport, "troubles">]: number } & {
  troubles: RecoveryTrouble[];
};

export const emptyTally = (): Tally => ({
  resumed: 0,
  rearmed: 0,
  timersFired: 0,
  resent: 0,
  mailboxesPoked: 0,
  broadcastsResumed: 0,
  eventsOffered: 0,
  skipped: 0,
  unreadable: 0,
  failed: 0,
  troubles: [],
});

/** What cannot be read or recovered is reported and left alone: the others go on. */
export function addTrouble(world: World, tally: Tally, key: Key, error: unknown): void {
  tally[isUnreadable(error) ? "unreadable" : "failed"] += 1;
  const instanceId = instanceIdOf(key);
  const name = instanceId === undefined ? placeOf(key) : `instance ${instanceId}`;
  world.onTrouble?.(`${name} was not recovered`, error);
  if (tally.troubles.length >= MAX_TROUBLES_TOLD) return;
  const known = error instanceof EngineError ? error : undefined;
  tally.troubles.push({
    key,
    ...(instanceId !== undefined && { instanceId }),
    code: known?.code ?? "engine/unexpected",
    // An unexpected error may name anything: its text is for the log alone.
    message: known?.message ?? "Something unexpected went wrong; the log of the engine has it.",
  });
}

/** The same world, and how many messages were sent to any queue through it. */
export function countedWorld(world: World): Readonly<{ counted: World; sent: () => number }> {
  let sent = 0;
  const counting = <P extends object>(port: P, method: keyof P & string): P =>
    new Proxy(port, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (name !== method) return value.bind(target);
        return async (...given: unknown[]) => {
          const answer: unknown = await Reflect.apply(value, target, given);
          // A queue of the user's own may refuse; the other queues answer nothing.
          if (answer === undefined || answer === "sent") sent += 1;
          return answer;
        };
      },
    });
  const { tasks, parking, workQueue, ownQueues } = world;
  const counted: World = {
    ...world,
    tasks: counting(tasks, "send"),
    parking: counting(parking, "park"),
    workQueue: counting(workQueue, "send"),
    ...(ownQueues && { ownQueues: counting(ownQueues, "send") }),
  };
  return { counted, sent: () => sent };
}
