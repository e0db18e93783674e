// Rules of a user's own queues, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const OWN_QUEUE_MUTANTS: readonly Mutant[] = [
  {
    name: "refused-by-queue-forgotten",
    without: "a task that its queue refuses gets a row",
    scenario: "own-queue",
    seed: 116,
    file: "lib/engine/rows/queue-task.ts",
    find: 'if ((await world.ownQueues.send(queueArn, body, delayMs)) === "sent") return true;',
    replace: `if ((await world.ownQueues.send(queueArn, body, delayMs)) === "sent") return true;
  ${MARK};
  if (true) return true;`,
  },
  {
    name: "moved-row-removed-first",
    without: "a row is removed after its task is in the queue",
    scenario: "own-queue",
    seed: 44,
    file: "lib/engine/rows/queue-task.ts",
    find: 'if (state.kind === "early") return false;',
    replace: `if (state.kind === "early") return false;
  ${MARK};
  await world.store.tidy([row.key]);`,
  },
  {
    name: "leased-outside-not-recovered",
    without: "a full recovery offers tasks for workers, whatever their lease",
    scenario: "own-queue-lost",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "return !isAtWork || (isAllLost && !runsHere(world, task));",
    replace: `if (isAtWork && !runsHere(world, task)) ${MARK};
  return !isAtWork;`,
  },
  {
    name: "queued-task-not-recovered",
    without: "a full recovery sends again what a user's own queue has lost",
    scenario: "own-queue-lost",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "if (isTask(ticket)) return isLost(world, instance, ticket, isAllLost);",
    replace: `if (isTask(ticket) && isAllLost && !runsHere(world, ticket)) {
      ${MARK};
      return false;
    }
    if (isTask(ticket)) return isLost(world, instance, ticket, isAllLost);`,
  },
];
