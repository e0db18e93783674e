// How late timers fire on each route, on virtual time: the cost of the routes themselves, without
// networks and functions. The scheduler fires anywhere within its minute.
import { anEnd, aStart, aTimer } from "../../support/graph-builder.ts";
import { starter } from "../actors/callers.ts";
import type { Injection } from "../actors/troubles.ts";
import { graph } from "../scenarios/definitions.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { calm } from "./single-fault.ts";
import { SimulatedWorld } from "./world.ts";

/** In ms after the instant at which they were due. */
export type Precision = Readonly<{
  road: string;
  timers: number;
  earliest: number;
  p50: number;
  p99: number;
  latest: number;
}>;

/** Fires this many timers on each route. */
export async function measurePrecision(timers: number): Promise<readonly Precision[]> {
  const numbers = Array.from({ length: timers }, (_, n) => n);
  const late = async (one: (n: number) => Promise<number>) => {
    const all: number[] = [];
    for (const n of numbers) all.push(await one(n));
    return all;
  };
  return [
    precisionOf("queue", await late((n) => lateness(timer(n, 10_000)))),
    precisionOf("schedule", await late((n) => lateness(timer(n, FAR_MS)))),
    precisionOf("wheel", await late((n) => lateness(timer(n, FAR_MS, { timers: "wheel" })))),
    precisionOf("sweep", await late((n) => lateWithoutSchedule(timer(n, FAR_MS)))),
  ];
}

const FAR_MS = 20 * 60_000;
/** Spreads the timers over the seconds, and over the milliseconds of a second. */
const APART_MS = 7_013;

function timer(n: number, aheadMs: number, how: Partial<Scenario> = {}): Scenario {
  const duration = `PT${(aheadMs + ((n * APART_MS) % 300_000)) / 1_000}S`;
  return {
    name: "precision",
    definitions: [
      graph("p", [aStart(), aTimer("pause", { duration }), anEnd()], ["start -> pause -> end"]),
    ],
    handlers: {},
    callers: () => [starter("p", `timer-${n}`)],
    punctual: true,
    ...how,
  };
}

async function lateness(scenario: Scenario, injection?: Injection): Promise<number> {
  const world = new SimulatedWorld(scenario, "durable", injection ? { injection } : {});
  await world.run();
  const [fired, ...others] = world.stage.fired;
  if (fired === undefined || others.length > 0) throw new Error("one timer should have fired");
  return fired.lateMs;
}

/** The schedule is taken and never fires. */
async function lateWithoutSchedule(scenario: Scenario): Promise<number> {
  const calls = await calm({ scenario, mode: "durable" });
  const create = calls.find(({ point }) => point === "scheduler.create");
  if (create === undefined) throw new Error("no schedule was created");
  return lateness(scenario, { call: create.call, side: "before", fault: { fault: "never" } });
}

function precisionOf(road: string, lateness: readonly number[]): Precision {
  const sorted = lateness.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return {
    road,
    timers: sorted.length,
    earliest: at(0.000_001),
    p50: at(0.5),
    p99: at(0.99),
    latest: at(1),
  };
}
