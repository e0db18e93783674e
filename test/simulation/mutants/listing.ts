// Rules of lists and of bulk operations, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const LISTING_MUTANTS: readonly Mutant[] = [
  {
    name: "key-row-after-commit",
    without: "the rows of an instance are written before it",
    scenario: "keyed",
    file: "lib/engine/step/commit.ts",
    find: "if (plan.before.version === 0 && !(await putKeyRows(world, plan.image.instance))) return BUSY;",
    replace: `if (plan.before.version === 0) {
      ${MARK};
      const done = await put(world, plan, write, own);
      if (done !== "unwritten" && done.kind === "committed") {
        await putKeyRows(world, plan.image.instance);
      }
      return done === "unwritten" ? BUSY : done;
    }`,
  },
  {
    name: "young-key-row-tidied",
    without: "a row without its instance may still get one, for an hour",
    scenario: "keyed",
    file: "lib/engine/rows/life.ts",
    find: "const isOld = now - row.since > MAX_ROW_IN_FLIGHT_MS;",
    replace: `${MARK}; const isOld = now >= row.since;`,
  },
  {
    name: "key-rows-never-expire",
    without: "rows expire with their instance",
    scenario: "keyed",
    file: "lib/engine/rows/left.ts",
    find: "await expireKeyRows(world, instance);",
    replace: `${MARK};`,
  },
  {
    name: "bulk-without-ticket",
    without: "each incident is resolved by its own ticket",
    scenario: "bulk-resolve",
    file: "lib/engine/instances/bulk.ts",
    find: "act: ({ instanceId, incidentId }) => resolveIncident(world, instanceId, incidentId, said),",
    replace: `act: async ({ instanceId, incidentId }) => {
      const { loadInstance } = await import("../storage/stored-instance.ts");
      const { instance } = (await loadInstance(world, instanceId)) ?? {};
      const open = instance?.tickets.find(({ on }) => on === "incident");
      if (open !== undefined && open.id !== incidentId) ${MARK};
      return resolveIncident(world, instanceId, open?.id ?? incidentId, said);
    },`,
  },
  {
    name: "purge-leaves-rows",
    without: "rows are removed with the instance that is erased",
    scenario: "purge",
    file: "lib/engine/instances/erase.ts",
    find: "await removeKeyRows(world, buried.instance);",
    replace: `${MARK};`,
  },
  {
    name: "half-purged-unlisted",
    without: "a half erased instance is found again by the next purge",
    scenario: "purge",
    seed: 23,
    file: "lib/engine/step/plan.ts",
    find: "...(instance.erased !== true && {",
    replace: `...((instance.erased === "unfinished" && (${MARK}), !instance.erased) && {`,
  },
  {
    name: "expired-row-comes-back",
    without: "a late expiry does not bring back a row that was removed",
    scenario: "purge",
    seed: 57,
    file: "lib/engine/storage/items.ts",
    find: "const outcome = await world.store.commit([{ put, when: { version } }]);",
    replace: `${MARK}; const outcome = await world.store.commit([{ put, when: "newer" }]);`,
  },
  {
    name: "first-shard-only",
    without: "a list reads every shard",
    scenario: "spread",
    file: "lib/engine/instances/listing-sources.ts",
    find: "Array.from({ length: shards }, (_, shard) =>",
    replace: `Array.from({ length: shards > 1 ? (${MARK}, 1) : 1 }, (_, shard) =>`,
  },
  {
    name: "spread-before-stored",
    without: "a start uses the stored number of shards, not one that may be stored next",
    scenario: "spread",
    file: "lib/engine/drive/creation.ts",
    find: "shardFor(id, start.shards ?? 1);",
    replace: `shardFor(id, (${MARK}, 2 * (start.shards ?? 1)));`,
  },
  {
    name: "shards-forgotten-by-deploy",
    without: "a new version keeps the shards of the previous one",
    scenario: "spread",
    file: "lib/engine/definitions/deploy.ts",
    find: "...spreadOf(found?.latest ?? {}),",
    replace: `...(found?.latest.shards !== undefined && (${MARK}), {}),`,
  },
  {
    name: "shards-shrink",
    without: "the number of shards only grows",
    scenario: "spread",
    file: "lib/engine/instances/listing-sources.ts",
    find: "if (shards < before) throw fewer(id, before);",
    replace: `if (shards < before) ${MARK};`,
  },
  {
    name: "index-without-shards",
    without: "the index of definitions contains the number of shards of each",
    scenario: "spread",
    file: "lib/engine/storage/latest.ts",
    find: "order: definitionOrder(latest.id, shardsOf(latest))",
    replace: `order: (${MARK}, latest.id)`,
  },
];
