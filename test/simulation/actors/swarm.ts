import type { Choices } from "../world/choices.ts";

/** Kinds of faults; each run has some of them and not the others, so that none hides the rest. */
export const TROUBLES = [
  "crash",
  "throttle",
  "doubt",
  "duplicate",
  "redeliver",
  "stall",
  "slow",
  "jump",
  "timers",
  "halves",
  "bus",
] as const;

/** A disk that is full now and then, and timers that fire twice, are for scenarios that request it. */
export type Trouble = (typeof TROUBLES)[number] | "full" | "timers-twice";

/** The faults of a run. `rate` of 16 actions are faults. */
export type Swarm = Readonly<{ rate: number; troubles: ReadonlySet<Trouble> }>;

/** Draws the faults of a run; an exhausted sequence draws none. */
export function drawSwarm(choices: Choices, preferred?: readonly Trouble[]): Swarm {
  const rate = preferred ? choices.oneOf(0, 2, 3, 4) : choices.oneOf(0, 1, 2, 3, 1, 2, 3, 5);
  const mask = choices.below(2 ** TROUBLES.length);
  const drawn = TROUBLES.filter((_, n) => (mask >> n) % 2 === 1);
  return { rate, troubles: new Set<Trouble>(preferred ?? drawn) };
}
