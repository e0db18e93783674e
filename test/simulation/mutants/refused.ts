// Rules of refused calls, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const REFUSED_MUTANTS: readonly Mutant[] = [
  {
    name: "refused-but-parked",
    without: "with queues in memory, the copy of a call is sent after its commit",
    scenario: "refused",
    mode: "memory",
    file: "lib/engine/drive/commit-call.ts",
    find: "const copy = owes ? queueCopy : undefined;",
    replace: `let copy = owes ? queueCopy : undefined;
  if (copy && !queuesSurvive) { ${MARK}; await copy(); copy = undefined; }`,
  },
  {
    name: "refused-though-sent",
    without: "a refusal after the copy was sent reports an unknown outcome",
    scenario: "refused",
    file: "lib/engine/drive/commit-call.ts",
    find: "if (progress) progress.mayHappen = true;",
    replace: `if (progress) ${MARK};`,
  },
  {
    name: "loser-sends",
    without: "of racing copies of one start, only the committed one sends its task",
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
    without:
      "the outcome of a task is held while the store refuses it, and the task is not run again",
    scenario: "refused",
    mode: "memory",
    file: "lib/engine/drive/report.ts",
    find: "if (world.settings.host.queuesSurvive || !mayPass(error)) throw error;",
    replace: `${MARK}; throw error;`,
  },
];
