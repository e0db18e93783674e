// Rules of user tasks, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const USER_TASK_MUTANTS: readonly Mutant[] = [
  {
    name: "late-claim-accepted",
    without:
      "a claim applies only to the assignment state that it saw: a late copy claims the task again",
    scenario: "user-task-left",
    seed: 40,
    file: "lib/kernel/user-task.ts",
    find: 'ticket.on === "task" && turnOf(ticket) === turn;',
    replace: `ticket.on === "task" && (turnOf(ticket) !== turn && (${MARK}), turnOf(ticket) !== undefined);`,
  },
  {
    name: "row-ahead-is-dead",
    without: "a row with a later version than its instance belongs to a commit in progress",
    scenario: "user-task-watched",
    seed: 853,
    mode: "memory",
    file: "lib/engine/rows/life.ts",
    find: "if (instance !== undefined && instance.version >= row.version) {",
    replace: `if (instance !== undefined) {
    if (instance.version < row.version) ${MARK};`,
  },
  {
    name: "user-task-rows-not-written-again",
    without: "a redelivery writes the rows that are still owed",
    scenario: "user-task",
    file: "lib/engine/rows/offer.ts",
    find: "await putAll(world, userTaskRows(instance, task));",
    replace: `if (task.person) ${MARK};`,
  },
  {
    name: "row-removed-first",
    without: "a row stays until its task has left that list",
    scenario: "user-task-left",
    file: "lib/engine/rows/user-task-row.ts",
    find: 'const isLive = ({ key }: Pick<Item, "key">) => live.has(nameOf(key)) || undefined;',
    replace: `const isLive = ({ key }: Pick<Item, "key">) => { if (live.has(nameOf(key))) ${MARK}; return undefined; };`,
  },
  {
    name: "claim-not-shown-with-commit",
    without: "with queues in memory, the rows of a task are written before its commit",
    scenario: "user-task-left",
    mode: "memory",
    file: "lib/engine/step/commit.ts",
    find: "await Promise.all(before.map((offer) => tryPutHint(world, offer)));",
    replace: `if (before.length > 0) ${MARK};`,
  },
  {
    name: "taken-over-task-offered-ahead",
    without: "a row for a task that was open before has the previous version",
    scenario: "shared-task-cancel",
    seed: 17_313,
    mode: "memory",
    file: "lib/engine/rows/offer.ts",
    find: "return openRow(wasOpen ? change.before : instance, task, shards, freshMark(world));",
    replace: `${MARK}; return openRow(instance, task, shards);`,
  },
];
