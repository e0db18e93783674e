// Rules of timer start events, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const START_MUTANTS: readonly Mutant[] = [
  {
    name: "start-without-enabled-check",
    without: "a disabled start event does not fire",
    scenario: "timer-start-switched",
    file: "lib/engine/rows/timer-start.ts",
    find: "if (!start.enabled) return false;",
    replace: `if (!start.enabled) ${MARK};`,
  },
  {
    name: "start-not-counted-with-its-instance",
    without: "the commit that creates the instance counts the occurrence",
    scenario: "timer-start-undeployed",
    file: "lib/engine/drive/creation.ts",
    find: "if (plan && fired) return { ...plan, companions: [...plan.companions, fired] };",
    replace: `if (plan && fired) { ${MARK}; await world.store.commit([fired]); return plan; }`,
  },
  {
    name: "start-fires-without-counting",
    without: "each firing is another occurrence",
    scenario: "timer-start",
    file: "lib/engine/rows/timer-start.ts",
    find: "const fired = { ...rest, n: start.n + 1, left };",
    replace: `${MARK}; const fired = { ...rest, left };`,
  },
  {
    name: "start-id-not-of-the-occurrence",
    without: "every copy of a firing has the same instance id",
    scenario: "timer-start",
    file: "lib/engine/timer-starts/fire.ts",
    find: "const idOfStarted = (world: World, { definitionId, element, run, n }: TimerStart): string =>",
    replace: `const idOfStarted = (world: World, { definitionId, element, run }: TimerStart, n = (${MARK}, 0)): string =>`,
  },
  {
    name: "start-armed-from-now",
    without: "the next due instant follows from the previous one",
    scenario: "timer-start",
    file: "lib/engine/rows/timer-start.ts",
    find: "nextDue: nextOfCycle(cycle, { previousDue, now }) };",
    replace: `nextDue: (${MARK}, nextOfCycle(cycle, { previousDue: now, now })) };`,
  },
  {
    name: "start-copy-creates-by-itself",
    without: "a carried start counts its occurrence as well",
    scenario: "timer-start-undeployed",
    file: "lib/engine/drive/creation.ts",
    find: "if (start.timer && fired === undefined) return undefined;",
    replace: `if (start.timer && fired === undefined) ${MARK};`,
  },
];
