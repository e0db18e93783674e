// Rules of calls and children, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const CALL_MUTANTS: readonly Mutant[] = [
  {
    name: "no-tombstone",
    without: "a child that has not started leaves a tombstone when its call is interrupted",
    scenario: "call-cancel-early",
    file: "lib/engine/calls/cancel-child.ts",
    find: "if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;",
    replace: `${MARK}; return;`,
  },
  {
    name: "child-id-not-from-ticket",
    without: "a child's id is derived from its ticket, however often it is started",
    scenario: "call",
    file: "lib/engine/calls/start-child.ts",
    find: "const childId = childIdOf(world, parent, ticket.id);",
    replace: `${MARK}; const childId = world.ids.fresh();`,
  },
  {
    name: "parent-notified-twice",
    without: "the first notification of a child's end closes the ticket",
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
    name: "parent-not-notified",
    without: "a child's end is owed to its caller until the caller has taken it",
    scenario: "call",
    file: "lib/kernel/draft.ts",
    find: "if (draft.before.parent && !draft.before.parent.detached) emit(",
    replace: `if (draft.before.parent) ${MARK}; if (false) emit(`,
  },
  {
    name: "notified-before-owed",
    without: "a redelivered notification sends what the caller's step owes",
    scenario: "call",
    seed: 129,
    file: "lib/engine/calls/notify-parent.ts",
    find: "return parkOwed(world, image, ticket);",
    replace: `{ ${MARK}; return; }`,
  },
  {
    name: "child-outlives-call",
    without: "an interrupted call cancels its child",
    scenario: "call-cancel-waiting",
    file: "lib/kernel/graph/interrupt.ts",
    find: `emit(run.draft, { kind: "cancel-child", ticket: ticket.id });`,
    replace: `${MARK};`,
  },
  {
    name: "refused-without-tombstone",
    without: "a child that cannot start gets its tombstone before its call is notified",
    scenario: "call-refused",
    file: "lib/engine/calls/start-child.ts",
    find: "if (!(await putTombstone(world, parent, ticket.id, planned))) return again();",
    replace: `${MARK};`,
  },
  {
    name: "awaiting-owes-nothing",
    without: "with queues in memory, an open call is re-checked after a restart",
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
