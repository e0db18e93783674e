// Rules of calls and children, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const CALL_MUTANTS: readonly Mutant[] = [
  {
    name: "no-tombstone",
    without: "a child that has not begun leaves a tombstone when its call is interrupted",
    scenario: "call-cancel-early",
    file: "lib/engine/calls/cancel-child.ts",
    find: "if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;",
    replace: `${MARK}; return;`,
  },
  {
    name: "child-id-not-from-ticket",
    without: "a child's id comes from its ticket, whoever begins it and how often",
    scenario: "call",
    file: "lib/engine/calls/start-child.ts",
    find: "const childId = childIdOf(world, parent, ticket.id);",
    replace: `${MARK}; const childId = world.ids.fresh();`,
  },
  {
    name: "parent-told-twice",
    without: "the ticket goes with the first word of a child's end",
    scenario: "call",
    file: "lib/kernel/graph/call.ts",
    find: `const id = tokenFor(run, ticket);
  takeOver(`,
    replace: `${MARK};
  const id = ticket.ref;
  run.draft.tickets = run.draft.tickets.map((t) => (t.id === ticket.id ? { ...t, ref: 0 } : t));
  takeOver(`,
  },
  {
    name: "parent-not-told",
    without: "a child's end is owed to its caller until that has looked",
    scenario: "call",
    file: "lib/kernel/draft.ts",
    find: "if (draft.before.parent && !draft.before.parent.detached) emit(",
    replace: `if (draft.before.parent) ${MARK}; if (false) emit(`,
  },
  {
    name: "told-before-owed",
    without: "what the caller's step owes is looked after when its teller comes again",
    scenario: "call",
    seed: 129,
    file: "lib/engine/calls/notify-parent.ts",
    find: "return parkOwed(world, image, ticket);",
    replace: `{ ${MARK}; return; }`,
  },
  {
    name: "child-outlives-call",
    without: "an interrupted call cancels what it waits for",
    scenario: "call-cancel-waiting",
    file: "lib/kernel/graph/interrupt.ts",
    find: `emit(run.draft, { kind: "cancel-child", ticket: ticket.id });`,
    replace: `${MARK};`,
  },
  {
    name: "refused-without-tombstone",
    without: "what cannot begin gets its tombstone before its call is told",
    scenario: "call-refused",
    file: "lib/engine/calls/start-child.ts",
    find: "if (!(await putTombstone(world, parent, ticket.id, planned))) return again();",
    replace: `${MARK};`,
  },
  {
    name: "awaiting-owes-nothing",
    without: "with queues in memory somebody looks at an open call after a restart",
    scenario: "call",
    mode: "memory",
    file: "lib/engine/step/owed.ts",
    find: `ticket.on === "continuation" ||
        ticket.on === "child" ||`,
    replace: `ticket.on === "continuation" ||
        (ticket.on === "child" && (${MARK}, false)) ||`,
  },
  {
    name: "erased-before-taken",
    without: "a child is erased only after its parent has its result",
    scenario: "call-erased",
    seed: 90,
    file: "lib/engine/instances/erase.ts",
    find: "await demandTaken(world, instance);",
    replace: `${MARK};`,
  },
];
