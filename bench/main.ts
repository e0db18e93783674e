// Measures the engine on this machine next to the bare store: the limit is measured in the same
// run, before and after, so that only the ratios matter.
//
//   npm run bench               about two minutes
//   npm run bench -- --quick    less of everything, about half a minute
//   npm run bench -- --topics   only signals and messages
//   npm run bench -- --code     only workflows in code, next to BPMN
//   npm run bench -- --record   writes the figures into bench/RESULTS.md as well

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine, type TrailNews } from "../lib/embedded/index.ts";
import { readCommandLine } from "../scripts/command-line.ts";
import { isWithin, measureCode, tellCheck } from "./code.ts";
import { closedLoop, percentile } from "./measures.ts";
import { sequence, sleeper } from "./processes.ts";
import { describeRun, markdownTable, record } from "./record.ts";
import { measureCeiling } from "./store-ceiling.ts";
import { alone, compared, figure, print, type Row } from "./table.ts";
import { type Check, measureTopics } from "./topics.ts";

const {
  quick: isQuick,
  topics: onlyTopics,
  code: onlyCode,
  record: isRecorded,
} = readCommandLine(import.meta.filename, {
  options: {
    quick: { type: "boolean", default: false },
    topics: { type: "boolean" },
    code: { type: "boolean" },
    record: { type: "boolean" },
  },
}).values;
const STEPS = 10;
/** A start and ten steps: each of them is one commit. */
const COMMITS = STEPS + 1;
const SLEEPERS = 1_000;
const WAITERS = isQuick ? 1_000 : 10_000;
const LONG = { alone: isQuick ? 200 : 1_000, together: isQuick ? 2_000 : 10_000 };

type Ceiling = Awaited<ReturnType<typeof measureCeiling>>;

process.exitCode = onlyCode ? await mainOfCode() : await main();

async function mainOfCode(): Promise<number> {
  const checks = await measureCode({ isQuick });
  for (const one of checks) console.log(tellCheck(one));
  const isGood = checks.every(isWithin);
  console.log(isGood ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return isGood ? 0 : 1;
}

async function main(): Promise<number> {
  const steps = onlyTopics ? undefined : await measureSteps();
  const { rows, checks } = await measureTopics(WAITERS);
  print(rows);
  console.log("");
  const told = checks.map(tell);
  for (const line of told) console.log(line);
  const isGood = steps?.isWhole !== false && checks.every(isKept);
  if (isRecorded && isGood) {
    const run = describeRun(new Date());
    record({
      ...(steps && { steps: partOf(run, steps.rows, steps.told) }),
      topics: partOf(run, rows, told),
    });
  }
  console.log(isGood ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return isGood ? 0 : 1;
}

function isKept({ commits, least, most }: Check): boolean {
  return commits >= least && commits <= most;
}

function tell({ what, commits, least, most }: Check): string {
  const expected = least === most ? `${most}` : `at most ${most}`;
  return `commits: ${commits} for ${what}, ${expected} expected`;
}

function partOf(run: string, rows: readonly Row[], lines: readonly string[]): string {
  return [run, "", markdownTable(rows), "", ...lines.map((line) => `- ${line}`)].join("\n");
}

type Steps = Readonly<{ isWhole: boolean; rows: readonly Row[]; told: readonly string[] }>;

/** Tasks, timers and starts; fails if they took another number of commits than expected. */
async function measureSteps(): Promise<Steps> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-bench-"));
  const lateness = latenessOf("nap", 1_000);
  const engine = await openEngine({
    dataDir: folder,
    tasks: { step: () => ({ n: 1 }) },
    onTrail: lateness.hear,
  });
  try {
    await engine.deploy(sequence("ten", STEPS));
    await engine.deploy(sleeper("second", "PT1S"));
    await engine.deploy(sleeper("hour", "PT1H"));
    return await measureAll(engine, lateness.ms);
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll(engine: EmbeddedEngine, lateMs: readonly number[]): Promise<Steps> {
  const runTen = async () => {
    const { instanceId } = await engine.start("ten", { variables: { n: 0 } });
    await engine.result(instanceId);
  };
  const startHour = async () => {
    await engine.start("hour", {});
  };
  const before = await measureCeiling();
  await closedLoop({ count: LONG.alone, callers: 16 }, runTen); // warm
  const single = await closedLoop({ count: LONG.alone, callers: 1 }, runTen);
  const counted = engine.counters();
  const together = await closedLoop({ count: LONG.together, callers: 64 }, runTen);
  const { reads, writes, bytes } = difference(engine.counters(), counted);
  const startsAlone = await closedLoop({ count: LONG.alone, callers: 1 }, startHour);
  const startsTogether = await closedLoop({ count: LONG.together, callers: 64 }, startHour);
  await sleepAll(engine);
  const ceiling = best(before, await measureCeiling());

  const rows = [
    compared(
      "ten tasks alone, ms an instance, p50",
      percentile(single.ms, 0.5),
      (COMMITS / ceiling.stepsAlone) * 1_000,
    ),
    alone("p99", percentile(single.ms, 0.99)),
    compared(
      "ten tasks alone, steps a second",
      single.perSecond * STEPS,
      (ceiling.stepsAlone * STEPS) / COMMITS,
    ),
    compared(
      "ten tasks, 64 at once, steps a second",
      together.perSecond * STEPS,
      groupedSteps(ceiling),
    ),
    alone("ms an instance, p50", percentile(together.ms, 0.5)),
    alone("p99", percentile(together.ms, 0.99)),
    compared(
      "1,000 timers in one second, ms late, p50",
      percentile(lateMs, 0.5),
      (500 / ceiling.stepsGrouped) * 1_000,
    ),
    alone("p99", percentile(lateMs, 0.99)),
    compared(
      "start acknowledged alone, ms, p50",
      percentile(startsAlone.ms, 0.5),
      1_000 / ceiling.stepsAlone,
    ),
    compared(
      "starts acknowledged, 64 at once, a second",
      startsTogether.perSecond,
      ceiling.startsGrouped,
    ),
  ];
  print(rows);
  const steps = LONG.together * STEPS;
  const commits = LONG.together * COMMITS;
  const told = [
    `a step: ${figure(bytes / commits)} bytes of state, ${figure(reads / steps)} items read`,
    `commits: ${writes} for ${steps} steps and ${LONG.together} starts, ${commits} expected`,
    `timers: ${lateMs.length} of ${SLEEPERS} heard of`,
  ];
  console.log(`\n${told.join("\n")}\n`);
  return { isWhole: writes === commits && lateMs.length === SLEEPERS, rows, told };
}

/** All are due within the second in which they were started. */
async function sleepAll(engine: EmbeddedEngine): Promise<void> {
  await closedLoop({ count: SLEEPERS, callers: SLEEPERS }, async () => {
    const { instanceId } = await engine.start("second", {});
    await engine.result(instanceId);
  });
}

/** How late each timer's step was durable, in ms after its due instant. */
function latenessOf(element: string, durationMs: number) {
  const due = new Map<string, number>();
  const ms: number[] = [];
  const hear = (news: TrailNews): void => {
    if (news.element !== element || news.definitionId !== "second") return;
    if (news.type === "element-entered") due.set(news.instanceId, Date.parse(news.at) + durationMs);
    if (news.type !== "timer-due") return;
    const now = performance.timeOrigin + performance.now();
    ms.push(now - (due.get(news.instanceId) ?? Number.NaN));
  };
  return { hear, ms };
}

/**
 * The limit of the bare store for a start and ten steps: their writes differ, so their times are
 * added.
 */
function groupedSteps({ startsGrouped, stepsGrouped }: Ceiling): number {
  return STEPS / (1 / startsGrouped + STEPS / stepsGrouped);
}

/** The machine may have been busy during one of them. */
function best(a: Ceiling, b: Ceiling): Ceiling {
  return {
    startsGrouped: Math.max(a.startsGrouped, b.startsGrouped),
    stepsGrouped: Math.max(a.stepsGrouped, b.stepsGrouped),
    stepsAlone: Math.max(a.stepsAlone, b.stepsAlone),
  };
}

type Counters = ReturnType<EmbeddedEngine["counters"]>;

function difference(after: Counters, before: Counters): Counters {
  return {
    reads: after.reads - before.reads,
    commits: after.commits - before.commits,
    writes: after.writes - before.writes,
    bytes: after.bytes - before.bytes,
  };
}
