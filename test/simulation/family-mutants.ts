// Rules of families, each left out as in mutants.ts.
import { MARK, type Mutant } from "./mutants.ts";

export const FAMILY_MUTANTS: readonly Mutant[] = [
  {
    name: "member-counted-twice",
    without: "a member whose bit is set is no longer open",
    scenario: "family",
    file: "lib/kernel/family.ts",
    find: "const isOpen = family && named.member < family.size && !hasBit(family.taken, named.member);",
    replace: `if (family && hasBit(family.taken, named.member)) ${MARK};
      const isOpen = family && named.member < family.size;`,
  },
  {
    name: "page-let-go-first",
    without: "a page stays queued until its members have left",
    scenario: "family",
    file: "lib/engine/families/send-family.ts",
    find: 'await sendMembers(world, image.instance, membersOf(family, { from, to }), "again");',
    replace: `${MARK};
  void sendMembers(world, image.instance, membersOf(family, { from, to }), "again").catch(() => undefined);`,
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
    file: "lib/engine/families/send-family.ts",
    find: "for (let from = 0; from < family.size; from += perPage) {",
    replace: `${MARK}; for (let from = perPage; from < family.size; from += perPage) {`,
  },
];
