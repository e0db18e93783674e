/** Counts messages where they leave, so that their senders need not. */
import type { World } from "../world.ts";

/** The same world, and how many messages went to any queue through it. */
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
