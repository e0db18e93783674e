// Rules of batches, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const BATCH_MUTANTS: readonly Mutant[] = [
  {
    name: "item-counted-twice",
    without: "an item whose bit is set is no longer open",
    scenario: "batch",
    file: "lib/kernel/batch.ts",
    find: "const isOpen = batch && named.member < batch.size && !hasBit(batch.taken, named.member);",
    replace: `if (batch && hasBit(batch.taken, named.member)) ${MARK};
      const isOpen = batch && named.member < batch.size;`,
  },
  {
    name: "page-released-first",
    without: "a page stays queued until its items are sent",
    scenario: "batch",
    file: "lib/engine/multi-instance/batch.ts",
    find: 'await sendItems(world, image.instance, itemsOf(family, { from, to }), "again");',
    replace: `${MARK};
  void sendItems(world, image.instance, itemsOf(family, { from, to }), "again").catch(() => undefined);`,
  },
  {
    name: "batch-outlives-its-body",
    without: "an interrupted loop leaves no ticket behind",
    scenario: "batch-interrupted",
    file: "lib/kernel/graph/interrupt.ts",
    find: "closeTickets(run.draft, (ticket) => gone.has(ticket.ref));",
    replace: `if (run.draft.tickets.some((it) => it.on === "family" && gone.has(it.ref))) ${MARK};
      closeTickets(run.draft, (ticket) => gone.has(ticket.ref) && ticket.on !== "family");`,
  },
  {
    name: "batch-sent-in-part",
    without: "the owner of a batch sends every open item",
    scenario: "batch",
    file: "lib/engine/multi-instance/batch.ts",
    find: "const all = { ticket: family.id, from: 0, to: family.size };",
    replace: `${MARK}; const all = { ticket: family.id, from: pageSizeIn(world), to: family.size };`,
  },
  {
    name: "items-not-offered",
    without: "items without a handler are offered to workers",
    scenario: "batch-for-workers",
    file: "lib/engine/multi-instance/batch.ts",
    find: "else await offerTask(world, instance, member, how);",
    replace: `else ${MARK};`,
  },
  {
    name: "item-row-judged-by-attempt",
    without: "the row of an item points to it at whichever attempt it was handed back",
    scenario: "batch-handler-removed",
    file: "lib/engine/rows/task-row.ts",
    find: "if (task.member !== undefined) return { ...task, attempt, retries };",
    replace: `if (task.member !== undefined && attempt !== task.attempt) ${MARK};`,
  },
  {
    name: "items-not-offered-before-unmasked",
    without: "items that lost their handler are offered before they leave the due index",
    scenario: "batch-handler-removed",
    seed: 131,
    mode: "memory",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "const outside = openTasks(instance.tickets).filter((task) => !runsHere(world, task));",
    replace: `${MARK};
  const outside = instance.tickets.filter(isTask).filter((task) => !runsHere(world, task));`,
  },
  {
    name: "item-runs-unclaimed",
    without: "an exclusive item is claimed before it runs",
    scenario: "batch-exclusive",
    file: "lib/engine/drive/claim.ts",
    find: "if (task.member !== undefined) return claimItem(world, image, task, invocation);",
    replace: `if (task.member !== undefined) { ${MARK}; return { kind: "claimed", image }; }`,
  },
  {
    name: "item-claim-without-lease",
    without: "an exclusive item is left alone while the run that claimed it may be running",
    scenario: "batch-exclusive",
    file: "lib/engine/drive/claim.ts",
    find: "const forMs = leaseLeftMs(world, claim);",
    replace: `${MARK}; const forMs = 0;`,
  },
];
