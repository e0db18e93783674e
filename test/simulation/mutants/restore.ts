// Rules of a recovery after everything was lost, each left out as in mutants.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const RESTORE_MUTANTS: readonly Mutant[] = [
  {
    name: "restored-timers-left-to-the-sweep",
    without: "timers that are ahead are armed anew when every schedule was lost",
    scenario: "restored-timers",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "(masked || isAllLost)",
    replace: `(masked || (isAllLost && (${MARK}, false)))`,
  },
  {
    name: "restored-records-forgotten",
    without: "what an outbox holds is sent by whoever is told to",
    scenario: "restored",
    seed: 20,
    file: "lib/engine/recovery/recover-instance.ts",
    find: 'for (const name of names) await world.parking.park({ kind: "owed", tenant, instanceId, name });',
    replace: `if (names.size > 0) ${MARK};`,
  },
  {
    name: "restored-leases-trusted",
    without: "a lease does not say that its owner lives when everything was lost",
    scenario: "restored-later",
    file: "lib/engine/recovery/recover-instance.ts",
    find: "if (isAllLost) await sendAfterLease(world, instance);",
    replace: `if (isAllLost) ${MARK};`,
  },
  {
    name: "restored-waits-not-looked-after",
    without: "a wait whose second look was lost gets another when everything is recovered",
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
    file: "lib/engine/instances/listing.ts",
    find: "const again = await allWithin(sources, covered);",
    replace: `const again: Entry[] = (${MARK}, covered) ? [] : [...(await allWithin(sources, covered))];`,
  },
];
