// Runs simulated worlds and reports violations.
//
//   npm run simulate                                  200 seeds from 1
//   npm run simulate -- --seed 42                     one seed, with what happened, call by call
//   npm run simulate -- --seed 42 --choices 0,17,…    a shrunk run
//   npm run simulate -- --runs 5000 --from 1000       more of them
//   npm run simulate -- --scenario request --mode memory narrowed down
//   npm run simulate -- --waiters 100000              a signal to so many, with deaths in its fan-out
//   npm run simulate -- --timers 500                  how late so many timers fire on each route
//   npm run simulate -- --mutant no-trigger                until the broken rule is noticed; 0 when it is

import { MUTANTS } from "../test/simulation/mutants/all-mutants.ts";
import { plant } from "../test/simulation/mutants/patch.ts";
import { type Mutant, REACHED } from "../test/simulation/mutants/protocol.ts";
import { readCommandLine, stop as stopAsked, wholeNumber } from "./command-line.ts";

const { values } = readCommandLine(import.meta.filename, {
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    runs: { type: "string" },
    scenario: { type: "string" },
    mode: { type: "string" },
    choices: { type: "string" },
    mutant: { type: "string" },
    waiters: { type: "string" },
    timers: { type: "string" },
  },
});

for (const option of ["seed", "from", "runs", "waiters", "timers"] as const) {
  if (values[option] !== undefined) wholeNumber(option, values[option]);
}
if (values.mode !== undefined && values.mode !== "memory" && values.mode !== "durable") {
  stopAsked(`--mode is "${values.mode}", but must be memory or durable.`);
}

const SEEDS_FOR_A_MUTANT = 500;
const DEFAULT_RUNS = 200;

const mutant = MUTANTS.find(({ name }) => name === values.mutant);
if (values.mutant !== undefined && mutant === undefined) {
  stopAsked(
    `There is no mutant "${values.mutant}". There are: ${MUTANTS.map(({ name }) => name).join(", ")}.`,
  );
}
if (mutant) plant(mutant);
// Only now: the engine must be loaded with the patch in it.
const { choicesOf, settingOf, simulate, simulateSeed } = await import(
  "../test/simulation/world/run.ts"
);
const { shrink } = await import("../test/simulation/world/shrink.ts");

const wantedMode = values.mode ?? (mutant ? (mutant.mode ?? "durable") : undefined);
const mode = wantedMode === "memory" || wantedMode === "durable" ? wantedMode : undefined;
const scenario = values.scenario ?? mutant?.scenario;

if (values.waiters !== undefined) await tell(Number(values.waiters));
else if (values.timers !== undefined) await fire(Number(values.timers));
else if (mutant) await hunt(mutant);
else if (values.seed !== undefined) await replay(Number(values.seed));
else await runMany(Number(values.from), Number(values.runs ?? DEFAULT_RUNS));

/** Runs seeds until one detects the mutant, the known one first. */
async function hunt({ name, seed: known }: Mutant): Promise<void> {
  const from = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.runs ?? SEEDS_FOR_A_MUTANT) : 1;
  const seeds = Array.from({ length: count }, (_, n) => from + n);
  if (known !== undefined && count > 1) seeds.unshift(known);
  for (const seed of seeds) {
    const run = await simulate(settingOf(seed, { scenario, mode }), { choices: choicesOf(seed) });
    if (run.problem && isReached()) {
      console.log(`${name}: killed by seed ${seed} of scenario ${scenario}`);
      console.log(`  ${run.problem.message.split("\n")[0]}`);
      return;
    }
    if (run.problem)
      stop(`${name}: seed ${seed} broke before the mutant was reached: ${run.problem.message}`);
  }
  stop(`${name}: ${isReached() ? "survived" : "was never reached by"} ${count} seeds`);
}

function isReached(): boolean {
  return Reflect.get(globalThis, REACHED) === true;
}

/** This many timers on each route, and how late they were. */
async function fire(timers: number): Promise<void> {
  const { measurePrecision } = await import("../test/simulation/world/precision.ts");
  console.table(await measurePrecision(timers));
}

/** One seed, printed in full; a failing one is shrunk. */
async function replay(seed: number): Promise<void> {
  const setting = settingOf(seed, { scenario, mode });
  const choices = values.choices === undefined ? choicesOf(seed) : parseChoices(values.choices);
  const run = await simulateSeed(setting, choices);
  console.log(run.trace.join("\n"));
  console.log(`\nseed ${seed}, scenario ${setting.scenario.name}, ${setting.mode} queues`);
  if (run.problem === undefined) return console.log("everything held");
  console.log(run.problem.message);
  if (values.choices !== undefined) process.exit(1);
  const shortest = await shrink(setting, choices);
  stop(`shrunk, replay with --choices ${shortest.join(",") || "none"}`);
}

function parseChoices(text: string): readonly number[] {
  return text === "none" ? [] : text.split(",").map(Number);
}

async function runMany(from: number, count: number): Promise<void> {
  const begin = performance.now();
  let broken = 0;
  for (let seed = from; seed < from + count; seed++) {
    const setting = settingOf(seed, { scenario, mode });
    const run = await simulateSeed(setting, choicesOf(seed));
    if (run.problem === undefined) continue;
    broken += 1;
    const where = `--seed ${seed} --scenario ${setting.scenario.name} --mode ${setting.mode}`;
    console.log(`${where}\n  ${run.problem.message.split("\n")[0]}`);
  }
  const perSecond = (count * 1000) / (performance.now() - begin);
  console.log(`${count} seeds, ${broken} broken, ${perSecond.toFixed(0)} a second`);
  if (broken > 0) process.exit(1);
}

/** One signal to this many waits; prints how long that took, and whether each got it once. */
async function tell(waiters: number): Promise<void> {
  const { tellCrowd } = await import("../test/simulation/actors/crowd.ts");
  const begin = performance.now();
  const { receipt, taken, ended, crashes } = await tellCrowd({ waiters, crashEvery: 20 });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const megabytes = (process.memoryUsage.rss() / 1_000_000).toFixed(0);
  const once = [...taken.values()].filter((times) => times === 1).length;
  console.log(JSON.stringify(receipt));
  console.log(`${once} of ${waiters} took it once, ${ended} have ended; ${crashes} deaths`);
  console.log(`${seconds} s, ${megabytes} MB`);
  const isRight = receipt.complete && receipt.delivered === waiters && receipt.matched === waiters;
  if (!isRight || once !== waiters || ended !== waiters) stop("not every wait received it once");
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
