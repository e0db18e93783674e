// Rules of tasks that people do, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const PEOPLE_MUTANTS: readonly Mutant[] = [
  {
    name: "claim-in-any-turn",
    without: "a claim holds in the turn that it saw: a copy that comes late takes the task again",
    scenario: "people-left",
    seed: 40,
    file: "lib/kernel/user-task.ts",
    find: 'ticket.on === "task" && turnOf(ticket) === turn;',
    replace: `ticket.on === "task" && (turnOf(ticket) !== turn && (${MARK}), turnOf(ticket) !== undefined);`,
  },
  {
    name: "row-ahead-is-dead",
    without: "a row that is ahead of its instance is of a commit under way",
    scenario: "people-watched",
    seed: 853,
    mode: "memory",
    file: "lib/engine/rows/life.ts",
    find: "if (instance !== undefined && instance.version >= row.version) {",
    replace: `if (instance !== undefined) {
    if (instance.version < row.version) ${MARK};`,
  },
  {
    name: "people-not-shown-again",
    without: "whoever comes back puts the rows that are still owed",
    scenario: "people",
    file: "lib/engine/rows/offer.ts",
    find: "await putAll(world, userTaskRows(instance, task));",
    replace: `if (task.person) ${MARK};`,
  },
  {
    name: "row-removed-first",
    without: "a row stays until its task is not in that list any more",
    scenario: "people-left",
    file: "lib/engine/rows/user-task-row.ts",
    find: 'const isLive = ({ key }: Pick<Item, "key">) => live.has(nameOf(key)) || undefined;',
    replace: `const isLive = ({ key }: Pick<Item, "key">) => { if (live.has(nameOf(key))) ${MARK}; return undefined; };`,
  },
  {
    name: "claim-not-shown-with-commit",
    without: "with queues in memory, what leads to a task is there before its commit",
    scenario: "people-left",
    mode: "memory",
    file: "lib/engine/step/commit.ts",
    find: "await Promise.all(before.map((offer) => tryPutHint(world, offer)));",
    replace: `if (before.length > 0) ${MARK};`,
  },
  {
    name: "taken-over-task-offered-ahead",
    without: "a row for a task that was open before is of the version before",
    scenario: "people-and-workers-cancel",
    seed: 17_313,
    mode: "memory",
    file: "lib/engine/rows/offer.ts",
    find: "return openRow(wasOpen ? change.before : instance, task, shards, freshMark(world));",
    replace: `${MARK}; return openRow(instance, task, shards);`,
  },
];
