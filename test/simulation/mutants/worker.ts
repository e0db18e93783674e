// Rules of workers and their locks, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const WORKER_MUTANTS: readonly Mutant[] = [
  {
    name: "lock-decides",
    without:
      "the ticket decides, not the lock: an expired lock that was not taken over still completes",
    scenario: "late-worker",
    file: "lib/engine/workers/lock.ts",
    find: "if (isLost) throw lockLost(about);",
    replace: `const isOver = Number(row?.key.sk.split("#")[1] ?? 0) < world.clock.now();
  if (isOver) ${MARK};
  if (isLost || isOver) throw lockLost(about);`,
  },
  {
    name: "old-row-removed-first",
    without: "the new row is written before the old one is removed",
    scenario: "workers",
    file: "lib/engine/workers/lock.ts",
    find: 'if (!(await putNew(world, put))) return "busy";\n  const removed = await removeRow(world, old);',
    replace: `${MARK};
  const removed = await removeRow(world, old);
  if (!(await putNew(world, put))) return "busy";`,
  },
  {
    name: "expired-locks-never-offered",
    without: "an expired lock is offered again by the next poll",
    scenario: "workers",
    file: "lib/engine/workers/activate.ts",
    find: "const ranges: Range[] = [openUntil(now), lockedUntil(now)].map((range) => ({ ...range, limit }));",
    replace: `const over = await world.store.scan(pk, { ...lockedUntil(now), limit });
  if (over.items.length > 0) ${MARK};
  const ranges: Range[] = [{ ...openUntil(now), limit }];`,
  },
  {
    name: "row-tidied-before-dead",
    without: "a row is removed only after its ticket was read as closed",
    scenario: "workers",
    file: "lib/engine/workers/activate.ts",
    find: "given = await readable(world, instance, () => giveAway(world, row, lock));",
    replace: `${MARK};
    await world.store.tidy([locked.key]);
    given = await readable(world, instance, () => giveAway(world, row, lock));`,
  },
  {
    name: "unreadable-task-goes",
    without: "a task whose instance a poll cannot read is offered again before its lock is removed",
    scenario: "workers-beside-an-older-release",
    file: "lib/engine/workers/activate.ts",
    find: "if (await tryPutHint(world, restingRow(world, row, at))) await world.store.tidy([locked.key]);",
    replace: `${MARK};
    if (at > 0) await world.store.tidy([locked.key]);`,
  },
  {
    name: "put-again-unmarked",
    without: "a row that is written again is marked: its task may be locked already",
    scenario: "workers-alone",
    file: "lib/engine/rows/task-row.ts",
    find: 'const put = openRow(instance, task, shards, how === "first" ? 0 : freshMark(world));',
    replace: `if (how === "again") ${MARK};
  const put = openRow(instance, task, shards, how === "anew" ? freshMark(world) : 0);`,
  },
  {
    name: "loser-keeps-its-row",
    without: "a poll that lost the race removes its own row, and does not get the task",
    scenario: "workers-alone",
    file: "lib/engine/workers/lock.ts",
    find: 'if (outcome.kind === "conflict") return "lost";',
    replace: `if (outcome.kind === "conflict") { ${MARK}; return "taken"; }`,
  },
  {
    name: "dead-poll-keeps-its-row",
    without: "with durable queues, no poll records in its process what it is about to lock",
    scenario: "workers-at-one-host",
    file: "lib/engine/workers/activate.ts",
    find: "if (!world.settings.host.ownsStore) return work();",
    replace: `if (!world.settings.host.ownsStore) ${MARK};`,
  },
];
