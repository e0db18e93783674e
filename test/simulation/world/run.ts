// Runs of a simulated world: by seed, by choices, or with one fault.
import fc from "fast-check";
import type { Injection } from "../actors/troubles.ts";
import { isSame, stable } from "../checks/oracle.ts";
import { checkRest, type Ending } from "../checks/rest.ts";
import { Violation } from "../checks/violation.ts";
import { randomScenario, SCENARIOS } from "../scenarios/all-scenarios.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { choiceSequence } from "./choices.ts";
import type { Mode } from "./mode.ts";
import { SimulatedWorld } from "./world.ts";

export type Run = Readonly<{
  /** The violation; none: everything held. */
  problem?: Error;
  trace: readonly string[];
  calls: number;
  ending: Ending;
}>;

export type Setting = Readonly<{ scenario: Scenario; mode: Mode }>;

/** One run; it never throws. */
export async function simulate(
  { scenario, mode }: Setting,
  how: Readonly<{ choices?: readonly number[]; injection?: Injection }> = {},
): Promise<Run> {
  const world = new SimulatedWorld(scenario, mode, how);
  let ending: Ending = {};
  let problem: Error | undefined;
  try {
    await world.run();
    ending = await checkRest(world);
  } catch (cause) {
    problem = cause instanceof Error ? cause : new Error(String(cause));
  }
  const { trace, actors } = world.stage;
  return { ...(problem && { problem }), trace, calls: actors.calls, ending };
}

/** Every seed has a scenario and a kind of queues; options may restrict them. */
export function settingOf(
  seed: number,
  {
    scenario: name,
    mode,
  }: Readonly<{ scenario?: string | undefined; mode?: Mode | undefined }> = {},
): Setting {
  const all = [...SCENARIOS.map((scenario) => scenario.name), "random"];
  const chosen = name ?? all[seed % all.length] ?? "random";
  const scenario =
    chosen === "random"
      ? randomScenario(seed)
      : SCENARIOS.find((candidate) => candidate.name === chosen);
  if (scenario === undefined) {
    throw new Error(`There is no scenario "${chosen}". There are: ${all.join(", ")}.`);
  }
  const other: Mode = Math.floor(seed / all.length) % 3 === 2 ? "memory" : "durable";
  return { scenario, mode: mode ?? other };
}

/** The choices of a seed. */
export function choicesOf(seed: number): readonly number[] {
  return fc.sample(choiceSequence, { seed, numRuns: 1, unbiased: true })[0] ?? [];
}

/** Runs a seed twice: the same choices must give the same run. */
export async function simulateSeed(setting: Setting, choices: readonly number[]): Promise<Run> {
  const run = await simulate(setting, { choices });
  const again = await simulate(setting, { choices });
  const at = run.trace.findIndex((line, n) => line !== again.trace[n]);
  if (at >= 0 || run.trace.length !== again.trace.length) {
    const message = `two runs of the same choices differ at line ${at}: ${run.trace[at]} / ${again.trace[at]}`;
    return { ...run, problem: new Violation(message) };
  }
  return compareWithFaultFree(setting, run);
}

/** If the order of events makes no difference, faults must not make one either. */
export async function compareWithFaultFree(setting: Setting, run: Run): Promise<Run> {
  if (run.problem || !setting.scenario.confluent) return run;
  const key = `${setting.scenario.name} ${setting.mode}`;
  const wanted = faultFree.get(key) ?? (await simulate(setting)).ending;
  faultFree.set(key, wanted);
  if (isSame(run.ending, wanted)) return run;
  const message = `it ended otherwise than without faults:\n  ${stable(run.ending)}\n  ${stable(wanted)}`;
  return { ...run, problem: new Violation(message) };
}

const faultFree = new Map<string, Ending>();
