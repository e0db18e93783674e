// Rules of commits that have spent what expressions may spend, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const HEAVY_MUTANTS: readonly Mutant[] = [
  {
    name: "left-fact-released",
    without: "a fact that a commit had no room for stays in its queue",
    scenario: "heavy-outcomes",
    file: "lib/engine/drive/advance.ts",
    find: "if (left.has(message.name)) return { keepForMs: 0 };",
    replace: `if (left.has(message.name)) {
    ${MARK};
    return "release";
  }`,
  },
];
