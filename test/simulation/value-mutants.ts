// Rules of values that stand apart, of erasing, and of formats, each left out as in mutants.ts.
import { MARK, type Mutant } from "./mutants.ts";

export const VALUE_MUTANTS: readonly Mutant[] = [
  {
    name: "value-after-commit",
    without: "a value is stored before the commit that refers to it",
    scenario: "values",
    file: "lib/engine/commit.ts",
    find: "if (!(await storeValues(world, plan.before, plan.values))) return BUSY;",
    replace: `if (plan.values.length > 0) {
      ${MARK};
      const done = await put(world, plan, write, own);
      await storeValues(world, plan.before, plan.values);
      return done;
    }`,
  },
  {
    name: "reference-dropped",
    without: "an instance says where each value belongs that has left it",
    scenario: "values",
    file: "lib/engine/apart.ts",
    find: "return { ...rest, v: leaving.map(referenceOf) };",
    replace: `if (leaving.length > 0) ${MARK}; return { ...rest, v: [] };`,
  },
  {
    name: "values-never-expire",
    without: "values go with their instance",
    scenario: "values",
    file: "lib/engine/keys.ts",
    find: 'export const LEFT = { from: "T#", to: "V$" } as const;',
    replace: `${MARK}; export const LEFT = CHUNKS;`,
  },
  {
    name: "blob-forgotten",
    without: "the blob of a value goes with its item",
    scenario: "values",
    file: "lib/engine/expire-left.ts",
    find: "await expireValue(world, id, item);",
    replace: `${MARK};`,
  },
  {
    name: "erased-before-sent",
    without: "what its end owes has left before an instance is erased",
    scenario: "erase",
    file: "lib/engine/erase.ts",
    find: "await send(world, instance, { tickets: [], outbox: instance.outbox });",
    replace: `if (instance.outbox.length > 0) ${MARK};`,
  },
  {
    name: "erase-forgets-values",
    without: "history and values go with the instance that is erased",
    scenario: "erase",
    file: "lib/engine/erase.ts",
    find: "await removeLeft(world, instanceId);",
    replace: `${MARK};`,
  },
  {
    name: "newer-format-dropped",
    without: "what a newer engine has written is left to one",
    scenario: "two-formats",
    file: "lib/engine/stored-instance.ts",
    find: "return item && imageOf(world, item);",
    replace: `try {
    return item && (await imageOf(world, item));
  } catch {
    ${MARK};
    return undefined;
  }`,
  },
];
