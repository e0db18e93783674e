// Rules of families, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const FAMILY_MUTANTS: readonly Mutant[] = [
  {
    name: "member-counted-twice",
    without: "a member whose bit is set is no longer open",
    scenario: "family",
    file: "lib/kernel/batch.ts",
    find: "const isOpen = batch && named.member < batch.size && !hasBit(batch.taken, named.member);",
    replace: `if (batch && hasBit(batch.taken, named.member)) ${MARK};
      const isOpen = batch && named.member < batch.size;`,
  },
  {
    name: "page-let-go-first",
    without: "a page stays queued until its members have left",
    scenario: "family",
    file: "lib/engine/multi-instance/send-batch.ts",
    find: 'await sendItems(world, image.instance, itemsOf(family, { from, to }), "again");',
    replace: `${MARK};
  void sendItems(world, image.instance, itemsOf(family, { from, to }), "again").catch(() => undefined);`,
  },
  {
    name: "family-outlives-its-body",
    without: "an interrupted loop leaves no ticket behind",
    scenario: "family-cut-short",
    file: "lib/kernel/graph/interrupt.ts",
    find: "closeTickets(run.draft, (ticket) => gone.has(ticket.ref));",
    replace: `if (run.draft.tickets.some((it) => it.on === "family" && gone.has(it.ref))) ${MARK};
      closeTickets(run.draft, (ticket) => gone.has(ticket.ref) && ticket.on !== "family");`,
  },
  {
    name: "family-sent-in-part",
    without: "whoever owes a family sends every member that is open",
    scenario: "family",
    file: "lib/engine/multi-instance/send-batch.ts",
    find: "const all = { ticket: family.id, from: 0, to: family.size };",
    replace: `${MARK}; const all = { ticket: family.id, from: pageSizeIn(world), to: family.size };`,
  },
  {
    name: "members-offered-to-nobody",
    without: "members that nobody here runs are offered outside",
    scenario: "family-outside",
    file: "lib/engine/multi-instance/send-batch.ts",
    find: "else await offerTask(world, instance, member, how);",
    replace: `else ${MARK};`,
  },
  {
    name: "member-row-judged-by-attempt",
    without: "the row of a member leads to it at whichever attempt it was handed back",
    scenario: "family-gone-midway",
    file: "lib/engine/rows/task-row.ts",
    find: "if (task.member !== undefined) return { ...task, attempt, retries };",
    replace: `if (task.member !== undefined && attempt !== task.attempt) ${MARK};`,
  },
  {
    name: "members-not-offered-before-unmasked",
    without: "members that lost their handler are offered before the due index lets go of them",
    scenario: "family-gone-midway",
    seed: 54,
    mode: "memory",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "const outside = openTasks(instance.tickets).filter((task) => !runsHere(world, task));",
    replace: `${MARK};
  const outside = instance.tickets.filter(isTask).filter((task) => !runsHere(world, task));`,
  },
  {
    name: "member-runs-unclaimed",
    without: "an exclusive member is claimed before it runs",
    scenario: "family-exclusive",
    file: "lib/engine/drive/claim.ts",
    find: "if (task.member !== undefined) return claimItem(world, image, task, invocation);",
    replace: `if (task.member !== undefined) { ${MARK}; return { kind: "claimed", image }; }`,
  },
  {
    name: "member-claim-without-lease",
    without: "an exclusive member is left alone while the run that claimed it may be at work",
    scenario: "family-exclusive",
    file: "lib/engine/drive/claim.ts",
    find: "const forMs = leaseLeftMs(world, claim);",
    replace: `${MARK}; const forMs = 0;`,
  },
];
