// Rules of values that stand apart, of erasing, and of formats, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const VALUE_MUTANTS: readonly Mutant[] = [
  {
    name: "value-after-commit",
    without: "a value is stored before the commit that refers to it",
    scenario: "values",
    file: "lib/engine/step/commit.ts",
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
    file: "lib/engine/storage/externalized.ts",
    find: "return { ...rest, v: leaving.map(referenceOf) };",
    replace: `if (leaving.length > 0) ${MARK}; return { ...rest, v: [] };`,
  },
  {
    name: "values-never-expire",
    without: "values go with their instance",
    scenario: "values",
    file: "lib/engine/storage/keys.ts",
    find: 'export const LEFT = { from: "T#", to: "V$" } as const;',
    replace: `${MARK}; export const LEFT = CHUNKS;`,
  },
  {
    name: "blob-forgotten",
    without: "the blob of a value goes with its item",
    scenario: "values",
    file: "lib/engine/rows/left.ts",
    find: "await expireValue(world, instance.id, item);",
    replace: `${MARK};`,
  },
  {
    name: "erased-before-sent",
    without: "what its end owes has left before an instance is erased",
    scenario: "erase",
    file: "lib/engine/instances/erase.ts",
    find: "await send(world, instance, { tickets: [], outbox: instance.outbox });",
    replace: `if (instance.outbox.length > 0) ${MARK};`,
  },
  {
    name: "erase-forgets-values",
    without: "history and values go with the instance that is erased",
    scenario: "erase",
    file: "lib/engine/instances/erase.ts",
    find: "await removeLeft(world, instanceId);",
    replace: `${MARK};`,
  },
  {
    name: "journal-left-behind",
    without: "what leaves the journal stands in the chunk that it left with",
    scenario: "journal",
    file: "lib/engine/step/plan.ts",
    find: "body: encodeChunk(committed, program.definition, journal),",
    replace: `body: ((journal && (${MARK})), encodeChunk(committed, program.definition)),`,
  },
  {
    name: "uncommitted-outcome-spilled",
    without: "only committed outcomes leave the journal",
    scenario: "journal",
    file: "lib/engine/step/plan.ts",
    find: "const journal = before.journal && leavingOf(before.journal);",
    replace: `${MARK}; const journal = after.journal && leavingOf(after.journal);`,
  },
  {
    name: "page-behind-its-piece",
    without: "a cursor names the first entry of the piece that goes on",
    scenario: "long",
    file: "lib/engine/instances/history.ts",
    find: "add(entries, entries[0]?.seq ?? 1);",
    replace: `${MARK}; add(entries, (entries.at(-1)?.seq ?? 1) + 1);`,
  },
  {
    name: "member-under-another-number",
    without: "a member of a family is one visit, before and once it is a token",
    scenario: "family",
    file: "lib/kernel/graph/batch-item.ts",
    find: "return put(run, ref, node, { variables, thrown, member, id: numberOf(around, member) });",
    replace: `${MARK}; return put(run, ref, node, { variables, thrown, member });`,
  },
  {
    name: "older-format-refused",
    without: "the format before is read by those who write the next",
    scenario: "two-formats",
    file: "lib/engine/storage/formats.ts",
    find: "if (format < oldestRead(kind)) throw tooOld(kind, format);",
    replace: `if (format < FORMATS[kind]) { ${MARK}; throw tooOld(kind, format); }`,
  },
  {
    name: "newer-format-dropped",
    without: "what a newer engine has written is left to one",
    scenario: "two-formats",
    file: "lib/engine/storage/stored-instance.ts",
    find: "return item && imageOf(world, item);",
    replace: `try {
    return item && (await imageOf(world, item));
  } catch {
    ${MARK};
    return undefined;
  }`,
  },
];
