import type { Choices } from "../world/choices.ts";

/** Kinds of trouble; each run has some of them and not the others, so that none drowns the rest. */
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

/** A disk that is full now and then is only for scenarios that ask for it. */
export type Trouble = (typeof TROUBLES)[number] | "full";

/** What a run has to live with. `rate` of 16 turns bring trouble. */
export type Swarm = Readonly<{ rate: number; troubles: ReadonlySet<Trouble> }>;

/** Draws the troubles of a run; an exhausted sequence draws none. */
export function drawSwarm(choices: Choices, preferred?: readonly Trouble[]): Swarm {
  const rate = preferred ? choices.oneOf(0, 2, 3, 4) : choices.oneOf(0, 1, 2, 3, 1, 2, 3, 5);
  const mask = choices.below(2 ** TROUBLES.length);
  const drawn = TROUBLES.filter((_, n) => (mask >> n) % 2 === 1);
  return { rate, troubles: new Set<Trouble>(preferred ?? drawn) };
}
