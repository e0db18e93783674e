// Rules of finding instances, and of dealing with many at once, each left out as in mutants.ts.
import { MARK, type Mutant } from "./mutants.ts";

export const LISTING_MUTANTS: readonly Mutant[] = [
  {
    name: "key-row-after-commit",
    without: "the rows of an instance are there before it is",
    scenario: "keyed",
    file: "lib/engine/commit.ts",
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
    without: "a row without its instance may be about to get one, for an hour",
    scenario: "keyed",
    file: "lib/engine/listing/key-rows.ts",
    find: "now - instantFrom(version) > MAX_ROW_IN_FLIGHT_MS;",
    replace: `(${MARK}, now >= instantFrom(version));`,
  },
  {
    name: "key-rows-never-expire",
    without: "rows go with their instance",
    scenario: "keyed",
    file: "lib/engine/expire-left.ts",
    find: "await expireKeyRows(world, instance);",
    replace: `${MARK};`,
  },
  {
    name: "bulk-without-ticket",
    without: "each incident is resolved by its own ticket",
    scenario: "bulk-resolve",
    file: "lib/engine/bulk/resolve.ts",
    find: "act: ({ instanceId, incidentId }) => resolveIncident(world, instanceId, incidentId, said),",
    replace: `act: async ({ instanceId, incidentId }) => {
      const { loadInstance } = await import("../stored-instance.ts");
      const { instance } = (await loadInstance(world, instanceId)) ?? {};
      const open = instance?.tickets.find(({ on }) => on === "incident");
      if (open !== undefined && open.id !== incidentId) ${MARK};
      return resolveIncident(world, instanceId, open?.id ?? incidentId, said);
    },`,
  },
  {
    name: "purge-leaves-rows",
    without: "rows go with the instance that is erased",
    scenario: "purge",
    file: "lib/engine/erase.ts",
    find: "await removeKeyRows(world, buried.instance);",
    replace: `${MARK};`,
  },
  {
    name: "half-purged-unlisted",
    without: "what is erased only half is found again by who purges",
    scenario: "purge",
    file: "lib/engine/plan.ts",
    find: "...(instance.erased !== true && {",
    replace: `...((instance.erased === "unfinished" && (${MARK}), !instance.erased) && {`,
  },
  {
    name: "expired-row-comes-back",
    without: "who is late to let a row expire does not bring back one that was removed",
    scenario: "purge",
    file: "lib/engine/listing/key-rows.ts",
    find: "const outcome = await world.store.commit([{ put, when: { version } }]);",
    replace: `${MARK}; const outcome = await world.store.commit([{ put, when: "newer" }]);`,
  },
];
