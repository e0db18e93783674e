// Rules of batches of calls, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const CALL_BATCH_MUTANTS: readonly Mutant[] = [
  {
    name: "child-counted-twice",
    without: "a child of a batch whose bit is set is no longer open",
    scenario: "call-batch",
    file: "lib/kernel/batch.ts",
    find: "const isOpen = batch && named.member < batch.size && !hasBit(batch.taken, named.member);",
    replace: `if (batch && isOfCalls(batch) && hasBit(batch.taken, named.member)) ${MARK};
      const isOpen = batch && named.member < batch.size;`,
  },
  {
    name: "batch-notified-twice",
    without: "the first notification of a child's end takes it out of its batch",
    scenario: "call-batch",
    file: "lib/kernel/graph/batch-item.ts",
    find: "keepTicket(run.draft, withoutItem(batch, member));",
    replace: `if (isOfCalls(batch)) ${MARK};
      else keepTicket(run.draft, withoutItem(batch, member));`,
  },
  {
    name: "batch-not-notified",
    without: "the end of one of many children is parked for its caller",
    scenario: "call-batch",
    file: "lib/engine/calls/notify-parent.ts",
    find: "return parkRecheck(world, { tenant, id: instanceId }, ticket);",
    replace: `{ ${MARK}; return; }`,
  },
  {
    name: "item-without-tombstone",
    without: "an item that has not started leaves a tombstone when its batch is interrupted",
    scenario: "call-batch-cancelled-early",
    file: "lib/engine/calls/cancel-child.ts",
    find: "if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;",
    replace: `if (ticket.includes("#")) { ${MARK}; return; }
    if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;`,
  },
  {
    name: "children-outlive-batch",
    without: "an interrupted batch cancels its open children",
    scenario: "call-batch-late",
    file: "lib/kernel/graph/batch-item.ts",
    find: 'emit(draft, { kind: "cancel-children", family: id, size, taken });',
    replace: `${MARK};`,
  },
  {
    name: "enough-and-still-running",
    without: "a loop that needs no more of its children cancels them",
    scenario: "call-batch-enough",
    file: "lib/kernel/graph/loop.ts",
    find: "endBatches(draft, left);",
    replace: `${MARK};`,
  },
  {
    name: "cancel-page-released-first",
    without: "a page stays queued until its children are cancelled",
    scenario: "call-batch-cancelled",
    file: "lib/engine/multi-instance/batch.ts",
    find: "await cancelMembers(world, image.instance, ticket, numbers);",
    replace: `${MARK};
  void cancelMembers(world, image.instance, ticket, numbers).catch(() => undefined);`,
  },
  {
    name: "cancel-pages-forgotten",
    without:
      "with queues in memory, children are cancelled before the record of the cancel is dropped",
    scenario: "call-batch-cancelled-midway",
    seed: 5303,
    mode: "memory",
    file: "lib/engine/multi-instance/batch.ts",
    find: "if (!host.queuesSurvive || open.length",
    replace: `if (!host.queuesSurvive) ${MARK}; if (open.length`,
  },
  {
    name: "calling-owes-nothing",
    without: "with queues in memory, a batch of calls is re-checked after a restart",
    scenario: "call-batch",
    mode: "memory",
    file: "lib/engine/step/owed.ts",
    find: `isCalling(ticket) ||
        runsHere(world, ticket) ||`,
    replace: `(isCalling(ticket) && (${MARK}, false)) ||
        runsHere(world, ticket) ||`,
  },
];
