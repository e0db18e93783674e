// Rules of what is refused, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const REFUSED_MUTANTS: readonly Mutant[] = [
  {
    name: "refused-but-parked",
    without: "with queues in memory the copy of a call leaves after its commit",
    scenario: "refused",
    mode: "memory",
    file: "lib/engine/drive/commit-call.ts",
    find: "const copy = owes ? queueCopy : undefined;",
    replace: `let copy = owes ? queueCopy : undefined;
  if (copy && !queuesSurvive) { ${MARK}; await copy(); copy = undefined; }`,
  },
  {
    name: "refused-though-sent",
    without: "a refusal after the copy has left says that nobody knows what becomes of the call",
    scenario: "refused",
    file: "lib/engine/drive/commit-call.ts",
    find: "if (progress) progress.mayHappen = true;",
    replace: `if (progress) ${MARK};`,
  },
  {
    name: "loser-sends",
    without: "of copies of one start that race, only the one that was committed sends its task",
    scenario: "doubled-start",
    mode: "memory",
    file: "lib/engine/drive/commit-call.ts",
    find: 'if (outcome.kind !== "committed") return outcome;',
    replace: `if (outcome.kind !== "committed") {
    if (!queuesSurvive && copy) { ${MARK}; await copy(); }
    return outcome;
  }`,
  },
  {
    name: "outcome-not-held",
    without: "what came of a task is held while the store cannot take it, and not run again",
    scenario: "refused",
    mode: "memory",
    file: "lib/engine/drive/report.ts",
    find: "if (world.settings.host.queuesSurvive || !mayPass(error)) throw error;",
    replace: `${MARK}; throw error;`,
  },
];
