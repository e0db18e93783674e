// Rules of families of calls, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const CALL_FAMILY_MUTANTS: readonly Mutant[] = [
  {
    name: "child-counted-twice",
    without: "a child of a family whose bit is set is no longer open",
    scenario: "call-family",
    file: "lib/kernel/batch.ts",
    find: "const isOpen = batch && named.member < batch.size && !hasBit(batch.taken, named.member);",
    replace: `if (batch && isOfCalls(batch) && hasBit(batch.taken, named.member)) ${MARK};
      const isOpen = batch && named.member < batch.size;`,
  },
  {
    name: "family-told-twice",
    without: "the first word of a child's end takes it out of its family",
    scenario: "call-family",
    file: "lib/kernel/graph/batch-item.ts",
    find: "keepTicket(run.draft, withoutItem(batch, member));",
    replace: `if (isOfCalls(batch)) ${MARK};
      else keepTicket(run.draft, withoutItem(batch, member));`,
  },
  {
    name: "family-not-told",
    without: "the end of one of many is parked for its caller",
    scenario: "call-family",
    file: "lib/engine/calls/notify-parent.ts",
    find: "return parkRecheck(world, { tenant, id: instanceId }, ticket);",
    replace: `{ ${MARK}; return; }`,
  },
  {
    name: "member-without-tombstone",
    without: "a member that has not begun leaves a tombstone when its family is cut short",
    scenario: "call-family-cancelled-early",
    file: "lib/engine/calls/cancel-child.ts",
    find: "if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;",
    replace: `if (ticket.includes("#")) { ${MARK}; return; }
    if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;`,
  },
  {
    name: "children-outlive-family",
    without: "a family that is cut short cancels what it waits for",
    scenario: "call-family-late",
    file: "lib/kernel/graph/batch-item.ts",
    find: 'emit(draft, { kind: "cancel-children", family: id, size, taken });',
    replace: `${MARK};`,
  },
  {
    name: "enough-and-still-running",
    without: "a loop that needs no more of its children cancels them",
    scenario: "call-family-enough",
    file: "lib/kernel/graph/loop.ts",
    find: "endBatches(draft, left);",
    replace: `${MARK};`,
  },
  {
    name: "cancel-page-let-go-first",
    without: "a page stays queued until its children are cancelled",
    scenario: "call-family-cancelled",
    file: "lib/engine/multi-instance/cancel-batch.ts",
    find: "await cancelMembers(world, image.instance, ticket, numbers);",
    replace: `${MARK};
  void cancelMembers(world, image.instance, ticket, numbers).catch(() => undefined);`,
  },
  {
    name: "cancel-pages-forgotten",
    without: "with queues in memory children are cancelled before the order to do so is dropped",
    scenario: "call-family-cancelled-midway",
    seed: 5303,
    mode: "memory",
    file: "lib/engine/multi-instance/cancel-batch.ts",
    find: "if (!host.queuesSurvive || open.length",
    replace: `if (!host.queuesSurvive) ${MARK}; if (open.length`,
  },
  {
    name: "calling-owes-nothing",
    without: "with queues in memory somebody looks at a family of calls after a restart",
    scenario: "call-family",
    mode: "memory",
    file: "lib/engine/step/owed.ts",
    find: `isCalling(ticket) ||
        runsHere(world, ticket) ||`,
    replace: `(isCalling(ticket) && (${MARK}, false)) ||
        runsHere(world, ticket) ||`,
  },
];
