// Rules of a recovery after everything was lost, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const RESTORE_MUTANTS: readonly Mutant[] = [
  {
    name: "restored-timers-left-to-the-sweep",
    without: "future timers are armed again when every schedule was lost",
    scenario: "restored-timers",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "(masked || isAllLost)",
    replace: `(masked || (isAllLost && (${MARK}, false)))`,
  },
  {
    name: "restored-records-forgotten",
    without: "a recovery sends the records of the outbox",
    scenario: "restored",
    seed: 20,
    file: "lib/engine/recovery/recover-instance.ts",
    find: 'for (const name of names) await world.parking.park({ kind: "owed", tenant, instanceId, name });',
    replace: `if (names.size > 0) ${MARK};`,
  },
  {
    name: "restored-leases-trusted",
    without: "a lease does not prove that its owner is alive when everything was lost",
    scenario: "restored-later",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "if (isAllLost) await sendAfterLease(world, instance);",
    replace: `if (isAllLost) ${MARK};`,
  },
  {
    name: "restored-waits-not-re-checked",
    without: "a wait whose second read of the head was lost gets another in a full recovery",
    scenario: "restored-waits",
    seed: 226,
    file: "lib/engine/recovery/recover-instance.ts",
    find: "(isAllLost && mustBeSent(world, ticket))",
    replace: `(isAllLost && (${MARK}, false))`,
  },
  {
    name: "restored-on-the-move-missed",
    without: "what a page of a recovery covers is read a second time: an instance may have moved",
    scenario: "restored-on-the-move",
    seed: 47,
    file: "lib/engine/instances/listing.ts",
    find: "const again = await allWithin(sources, covered);",
    replace: `const again: Entry[] = (${MARK}, covered) ? [] : [...(await allWithin(sources, covered))];`,
  },
];
