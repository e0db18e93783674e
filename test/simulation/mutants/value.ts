// Rules of externalized values, of erasing, and of formats, each left out as in protocol.ts.
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
    without: "an instance records the place of each externalized value",
    scenario: "values",
    file: "lib/engine/storage/externalized.ts",
    find: "return { ...rest, v: leaving.map(referenceOf) };",
    replace: `if (leaving.length > 0) ${MARK}; return { ...rest, v: [] };`,
  },
  {
    name: "values-never-expire",
    without: "values expire with their instance",
    scenario: "values",
    file: "lib/engine/storage/keys.ts",
    find: 'export const LEFT = { from: "T#", to: "V$" } as const;',
    replace: `${MARK}; export const LEFT = CHUNKS;`,
  },
  {
    name: "blob-forgotten",
    without: "the blob of a value is removed with its item",
    scenario: "values",
    file: "lib/engine/rows/left.ts",
    find: "await expireValue(world, instance.id, item);",
    replace: `${MARK};`,
  },
  {
    name: "erased-before-sent",
    without: "what its end owes is sent before an instance is erased",
    scenario: "erase",
    file: "lib/engine/instances/erase.ts",
    find: "await send(world, instance, { tickets: [], outbox: instance.outbox });",
    replace: `if (instance.outbox.length > 0) ${MARK};`,
  },
  {
    name: "erase-forgets-values",
    without: "history and values are erased with their instance",
    scenario: "erase",
    file: "lib/engine/instances/erase.ts",
    find: "await removeLeft(world, instanceId);",
    replace: `${MARK};`,
  },
  {
    name: "journal-left-behind",
    without: "what is moved out of the journal is in the chunk that was written with it",
    scenario: "code-long",
    file: "lib/engine/step/plan.ts",
    find: "body: encodeChunk(committed, program.definition, journal),",
    replace: `body: ((journal && (${MARK})), encodeChunk(committed, program.definition)),`,
  },
  {
    name: "uncommitted-outcome-spilled",
    without: "only committed outcomes are moved out of the journal",
    scenario: "code-long",
    file: "lib/engine/step/plan.ts",
    find: "const journal = before.journal && leavingOf(before.journal);",
    replace: `${MARK}; const journal = after.journal && leavingOf(after.journal);`,
  },
  {
    name: "page-behind-its-piece",
    without: "a cursor names the first entry of the chunk that continues",
    scenario: "long",
    file: "lib/engine/instances/history.ts",
    find: "add(entries, entries[0]?.seq ?? 1);",
    replace: `${MARK}; add(entries, (entries.at(-1)?.seq ?? 1) + 1);`,
  },
  {
    name: "item-under-another-number",
    without: "an item of a batch is one visit, before and after it becomes a token",
    scenario: "batch",
    file: "lib/kernel/graph/batch-item.ts",
    find: "return put(run, ref, node, { variables, thrown, member, id: numberOf(around, member) });",
    replace: `${MARK}; return put(run, ref, node, { variables, thrown, member });`,
  },
  {
    name: "older-format-refused",
    without: "the previous format is read by engines that write the next",
    scenario: "two-formats",
    file: "lib/engine/storage/formats.ts",
    find: "if (format < oldestRead(kind)) throw tooOld(kind, format);",
    replace: `if (format < FORMATS[kind]) { ${MARK}; throw tooOld(kind, format); }`,
  },
  {
    name: "newer-format-dropped",
    without: "data of a newer engine is left for a newer engine",
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
