/** Counts messages where they leave: whoever sends on the way needs not tell how many there were. */
import type { World } from "../world.ts";

/** The same world, and how many messages went to any queue through it. */
export function countedWorld(world: World): Readonly<{ counted: World; sent: () => number }> {
  let sent = 0;
  const { tasks, parking, pages, ownQueues } = world;
  const counted: World = {
    ...world,
    tasks: {
      send: async (message) => {
        await tasks.send(message);
        sent += 1;
      },
      handlerOf: (type) => tasks.handlerOf(type),
      types: () => tasks.types(),
      holds: (instanceId, ticket) => tasks.holds(instanceId, ticket),
      stop: (instanceId, ticket) => tasks.stop(instanceId, ticket),
    },
    parking: {
      park: async (message) => {
        await parking.park(message);
        sent += 1;
      },
    },
    pages: {
      send: async (message, afterMs) => {
        await pages.send(message, afterMs);
        sent += 1;
      },
    },
    ...(ownQueues && {
      ownQueues: {
        allows: (queueArn: string) => ownQueues.allows(queueArn),
        problemOf: (queueArn: string) => ownQueues.problemOf(queueArn),
        send: async (queueArn: string, body: string, delayMs: number) => {
          const answer = await ownQueues.send(queueArn, body, delayMs);
          if (answer === "sent") sent += 1;
          return answer;
        },
      },
    }),
  };
  return { counted, sent: () => sent };
}
