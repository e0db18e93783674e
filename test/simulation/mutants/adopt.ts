// Rules of tasks whose handlers are added and removed, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const ADOPT_MUTANTS: readonly Mutant[] = [
  {
    name: "adopted-before-sent",
    without: "the row of an adopted task is removed after the task was sent",
    scenario: "handlers-come-and-go",
    file: "lib/engine/recovery/adopt.ts",
    find: "if (image && task) await world.tasks.send(taskMessage(image.instance, task));",
    replace: `if (image && task) {
    ${MARK};
    await world.store.tidy([key]);
    await world.tasks.send(taskMessage(image.instance, task));
  }`,
  },
  {
    name: "adoption-removes-what-was-put-back",
    without: "a row that was written again since an adoption read it stays",
    scenario: "handlers-half-there",
    seed: 33,
    file: "lib/engine/recovery/adopt.ts",
    find: "when: { version } }]",
    replace: `when: (${MARK}, "exists") }]`,
  },
  {
    name: "never-adopted",
    without: "a host with a new handler looks for tasks of its type that were offered to workers",
    scenario: "handlers-come-and-go",
    file: "lib/engine/recovery/adopt.ts",
    find: "(row: Item) => adoptOne(world, row)",
    replace: `async () => (${MARK}, false)`,
  },
  {
    name: "handed-back-unnoticed",
    without: "the runner of a task notices that another delivery has handed it back",
    scenario: "handlers-half-there",
    seed: 22,
    file: "lib/engine/drive/hand-back.ts",
    find: "const result = await rewrite(world, found, invocation.id, handedBack);",
    replace: `const after = handedBack(found.instance);
    if (after !== found.instance) ${MARK};
    const image = { ...found, instance: after };
    const result = { kind: after === found.instance ? "gone" : "settled", image };`,
  },
  {
    name: "outcome-kept-after-hand-back",
    without: "the outcome of a task that was handed back meanwhile is parked",
    scenario: "handlers-half-there",
    seed: 41,
    file: "lib/engine/drive/hand-back.ts",
    find: "return open.attempt === task.attempt && handBackOf(open) === handBackOf(task);",
    replace: `if (handBackOf(open) !== handBackOf(task)) ${MARK}; return open.attempt === task.attempt;`,
  },
  {
    name: "void-message-run",
    without: "a message from before its task was handed back is void",
    scenario: "handlers-half-there",
    seed: 72,
    file: "lib/engine/drive/hand-back.ts",
    find: "return last !== undefined && last !== handedBackBy;",
    replace: `if (last !== undefined && last !== handedBackBy) ${MARK}; return false;`,
  },
  {
    name: "not-offered-before-unmasked",
    without: "tasks that lost their handler are offered before they leave the due index",
    scenario: "handlers-gone-midway",
    seed: 67,
    mode: "memory",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "await Promise.all(outside.map((task) => offerAnew(world, instance, task)));",
    replace: `if (outside.length > 0) ${MARK};`,
  },
];
