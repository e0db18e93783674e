// Rules of what is set aside because it came too often, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const POISON_MUTANTS: readonly Mutant[] = [
  {
    name: "poison-dropped",
    without: "what came too often is kept by an incident, not dropped",
    scenario: "set-aside",
    file: "lib/engine/drive/receive.ts",
    find: "return handle(asideOf(world, invocation), message, invocation);",
    replace: `if (invocation.aside !== undefined) {
      ${MARK};
      return Promise.resolve("release");
    }
    return handle(world, message, invocation);`,
  },
  {
    name: "poisoned-task-dropped",
    without: "a task whose failure cannot be taken in stands at an incident",
    scenario: "set-aside",
    file: "lib/engine/drive/receive.ts",
    find: "if (world.aside !== undefined) return setTaskAside(world, asked, invocation);",
    replace: `if (world.aside !== undefined) {
      ${MARK};
      return "release";
    }`,
  },
];
