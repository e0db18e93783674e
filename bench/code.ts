// Workflows in code next to the same processes in BPMN, in one run: only the ratios matter.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workerSandbox } from "../lib/adapters/quickjs/worker-sandbox.ts";
import { bundleWorkflows } from "../lib/bundler/bundle-workflows.ts";
import { type EmbeddedEngine, openEngine } from "../lib/embedded/index.ts";
import { Sessions } from "../lib/kernel/code/sessions.ts";
import { closedLoop } from "./measures.ts";
import { heldMemory } from "./memory.ts";
import { sequence } from "./processes.ts";
import { figure } from "./table.ts";

/** What is promised, and what was measured. */
export type CodeCheck = Readonly<{
  what: string;
  value: number;
  least?: number;
  most?: number;
  /** It is of the machine as much as of the engine: a short run only tells it. */
  isTimed?: true;
}>;

const STEPS = 10;

/** Measures everything about workflows in code, and says how it compares with what is promised. */
export async function measureCode({ isQuick }: Readonly<{ isQuick: boolean }>) {
  const folder = mkdtempSync(join(tmpdir(), "fermata-bench-code-"));
  const sessions = watchSessions();
  const engine = await openEngine({
    dataDir: folder,
    // The same results as those of the steps in code.
    tasks: { step: () => ({ n: 1 }), told: () => ({ n: 1, at: "a result of 30 bytes" }) },
    workflows: join(import.meta.dirname, "workflows"),
  });
  try {
    await engine.deploy(sequence("ten", STEPS));
    await engine.deploy(sequence("ten-told", STEPS, "told"));
    const all = [
      ...(await besideBpmn(engine, sessions, isQuick ? 2_000 : 10_000)),
      ...(await sandboxAlone(isQuick ? 2_000 : 10_000)),
      ...(await longRuns(engine, isQuick ? 2_000 : 10_000)),
      ...(await suspended(engine, isQuick ? 1_000 : 10_000)),
    ];
    return isQuick ? all.map(withoutTiming) : all;
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ten steps by 64 callers, in code and in BPMN in turns. */
async function besideBpmn(engine: EmbeddedEngine, sessions: Watched, count: number) {
  const run = (id: string, body: object) => async () => {
    const { instanceId } = await engine.start(id, body);
    await engine.result(instanceId);
  };
  const small = await inTurns(count, {
    bpmn: run("ten", { variables: { n: 0 } }),
    code: run("code-ten", {}),
  });
  const before = sessions.counts();
  const told = await inTurns(count, {
    bpmn: run("ten-told", { variables: { n: 0 } }),
    code: run("code-tasks", { input: { count: STEPS } }),
  });
  const { feeds, replays } = sessions.counts(before);
  const facts = told.runs * (STEPS + 1);
  return [
    clocked("code: ten steps by 64, steps a second", small.code, { least: 10_000 }),
    check("the same in BPMN", small.bpmn),
    clocked("code by BPMN", small.code / small.bpmn, { least: 0.8 }),
    check("with results of 30 bytes: code, steps a second", told.code),
    check("the same in BPMN, which keeps the last result only", told.bpmn),
    check("code by BPMN, with results of 30 bytes", told.code / told.bpmn),
    check("feeds a fact", feeds / facts, { most: 1.05 }),
    check("replays a fact", replays / facts, { most: 0.05 }),
  ];
}

/**
 * The best of many short turns each, in steps a second; and how many workflows in code were run. Other
 * machines on the same host slow down two threads more than one, for seconds at a time.
 */
async function inTurns(
  count: number,
  { bpmn, code }: Readonly<Record<"bpmn" | "code", () => Promise<void>>>,
) {
  const warming = 500;
  await closedLoop({ count: warming, callers: 64 }, code);
  await closedLoop({ count: warming, callers: 64 }, bpmn);
  const best = { bpmn: 0, code: 0 };
  const each = Math.ceil(count / TURNS);
  for (let turn = 0; turn < TURNS; turn++) {
    const inBpmn = await closedLoop({ count: each, callers: 64 }, bpmn);
    const inCode = await closedLoop({ count: each, callers: 64 }, code);
    best.bpmn = Math.max(best.bpmn, inBpmn.perSecond * STEPS);
    best.code = Math.max(best.code, inCode.perSecond * STEPS);
  }
  return { ...best, runs: warming + each * TURNS };
}

const TURNS = 12;

/** The ceiling: the same workflow in the same sandbox, without an engine. */
async function sandboxAlone(count: number) {
  const bundled = await bundleWorkflows(join(import.meta.dirname, "workflows", "sequences.ts"));
  if (!bundled.ok) throw new Error("The workflows of the benchmark cannot be bundled.");
  const sandbox = workerSandbox();
  try {
    const loaded = await sandbox.load(bundled.source);
    if (!loaded.ok) throw new Error(loaded.problem.message);
    const runOne = async () => {
      const opening = { workflow: "code-tasks", input: { count: STEPS }, seed: "", instance: {} };
      const session = loaded.program.open(opening);
      for (let n = 0; n <= STEPS; n++) {
        const value = { n, at: "a result of 30 bytes" };
        await session.run([n === 0 ? { now: 0 } : { now: n, done: { n, value } }]);
      }
      session.close();
    };
    await closedLoop({ count: 500, callers: 64 }, runOne); // warm
    const { perSecond } = await closedLoop({ count, callers: 64 }, runOne);
    return [check("the sandbox alone, steps a second", perSecond * STEPS)];
  } finally {
    await sandbox.close();
  }
}

/** Whether a step costs the same at the end of a long run; and what it writes. */
async function longRuns(engine: EmbeddedEngine, count: number) {
  const timed = async (tasks: number) => {
    const before = engine.counters();
    const begin = performance.now();
    const { instanceId } = await engine.start("code-tasks", { input: { count: tasks } });
    await engine.result(instanceId, { timeoutMs: 600_000 });
    const ms = (performance.now() - begin) / tasks;
    const { bytes, writes } = engine.counters();
    const written = (bytes - before.bytes) / (tasks + 1) / 1_024;
    return { ms, written, writes: (writes - before.writes) / (tasks + 1) };
  };
  const ten = await timed(STEPS);
  const short = await timed(200);
  const long = await timed(count);
  return [
    check("KB written a step, ten tasks", ten.written, { most: 1 }),
    check("KB written a step, 200 tasks", short.written, { most: 1.1 }),
    check(`KB written a step, ${count} tasks`, long.written, { most: 1.2 }),
    check("ms a step alone, 200 tasks", short.ms),
    check(`ms a step alone, ${count} tasks`, long.ms),
    clocked("long by short", long.ms / short.ms, { most: 1.5 }),
  ];
}

/**
 * What instances hold that only wait. The process is measured as well, since machines are not on the
 * heap: one takes a megabyte.
 */
async function suspended(engine: EmbeddedEngine, count: number) {
  const suspend = (many: number) =>
    closedLoop({ count: many, callers: 64 }, async () => {
      await engine.start("code-waiter", { input: null });
    });
  // Fills the caches and the pool of machines first, so that only the instances are measured.
  await suspend(Math.max(1_000, count / 5));
  const before = { ...heldMemory(), bytes: engine.counters().bytes };
  await suspend(count);
  const after = { ...heldMemory(), bytes: engine.counters().bytes };
  const kilobytesOf = (megabytes: number) => (megabytes * 1_024) / count;
  return [
    clocked(`${count} suspended: KB of heap each`, kilobytesOf(after.heap - before.heap), {
      most: 4,
    }),
    clocked("KB of the process each", kilobytesOf(after.rss - before.rss), { most: 16 }),
    check("KB on disk each", (after.bytes - before.bytes) / count / 1_024, { most: 2 }),
  ];
}

const check = (
  what: string,
  value: number,
  bounds: Readonly<{ least?: number; most?: number }> = {},
): CodeCheck => ({ what, value, ...bounds });

const clocked = (...given: Parameters<typeof check>): CodeCheck => ({
  ...check(...given),
  isTimed: true,
});

/** A short run tells times, and fails for what it counts. */
const withoutTiming = ({ isTimed, ...one }: CodeCheck): CodeCheck =>
  isTimed ? check(one.what, one.value) : one;

/** Whether a figure is within what is promised. */
export const isWithin = ({ value, least, most }: CodeCheck): boolean =>
  (least === undefined || value >= least) && (most === undefined || value <= most);

export function tellCheck(one: CodeCheck): string {
  const { what, value, least, most } = one;
  const bound = least === undefined ? most : least;
  const promised =
    bound === undefined
      ? ""
      : ` (${least === undefined ? "at most" : "at least"} ${figure(bound)})`;
  return `${isWithin(one) ? "    " : "NOT "}${what}: ${figure(value)}${promised}`;
}

type Counts = Readonly<{ feeds: number; replays: number }>;
type Watched = Readonly<{ counts(since?: Counts): Counts }>;

/** Counts what goes through the rooms of sessions: every feed ends in one, every replay lacks one. */
function watchSessions(): Watched {
  const { checkIn, checkOut } = Sessions.prototype;
  let feeds = 0;
  let replays = 0;
  Sessions.prototype.checkIn = function watched(...given) {
    feeds += 1;
    return checkIn.apply(this, given);
  };
  Sessions.prototype.checkOut = function watched(...given) {
    const found = checkOut.apply(this, given);
    if (found === undefined) replays += 1;
    return found;
  };
  return {
    counts: (since = { feeds: 0, replays: 0 }) => ({
      feeds: feeds - since.feeds,
      replays: replays - since.replays,
    }),
  };
}
