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
export type CodeCheck = Readonly<{ what: string; value: number; least?: number; most?: number }>;

const STEPS = 10;

/** Measures everything about workflows in code, and says how it compares with what is promised. */
export async function measureCode({ isQuick }: Readonly<{ isQuick: boolean }>) {
  const folder = mkdtempSync(join(tmpdir(), "fermata-bench-code-"));
  const sessions = watchSessions();
  const engine = await openEngine({
    dataDir: folder,
    // The same result as that of the step in code.
    tasks: { step: () => ({ n: 1, at: "a result of 30 bytes" }) },
    workflows: join(import.meta.dirname, "workflows"),
  });
  try {
    await engine.deploy(sequence("ten", STEPS));
    return [
      ...(await besideBpmn(engine, sessions, isQuick ? 2_000 : 10_000)),
      ...(await sandboxAlone(isQuick ? 2_000 : 10_000)),
      ...(await longRuns(engine, isQuick ? 2_000 : 10_000)),
      ...(await suspended(engine, isQuick ? 1_000 : 10_000)),
    ];
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
  const bpmn = run("ten", { variables: { n: 0 } });
  const code = run("code-tasks", { input: { count: STEPS } });
  await closedLoop({ count: 500, callers: 64 }, code); // warm
  await closedLoop({ count: 500, callers: 64 }, bpmn);
  const rates = { bpmn: 0, code: 0 };
  const before = sessions.counts();
  for (let turn = 0; turn < 3; turn++) {
    const inBpmn = await closedLoop({ count: count / 3, callers: 64 }, bpmn);
    const inCode = await closedLoop({ count: count / 3, callers: 64 }, code);
    rates.bpmn = Math.max(rates.bpmn, inBpmn.perSecond * STEPS);
    rates.code = Math.max(rates.code, inCode.perSecond * STEPS);
  }
  const { feeds, replays } = sessions.counts(before);
  const facts = Math.ceil(count / 3) * 3 * (STEPS + 1);
  return [
    check("code: ten steps by 64, steps a second", rates.code, { least: 10_000 }),
    check("the same in BPMN", rates.bpmn),
    check("code by BPMN", rates.code / rates.bpmn, { least: 0.8 }),
    check("feeds a fact", feeds / facts, { most: 1.05 }),
    check("replays a fact", replays / facts, { most: 0.05 }),
  ];
}

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
    check("long by short", long.ms / short.ms, { most: 1.5 }),
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
    check(`${count} suspended: KB of heap each`, kilobytesOf(after.heap - before.heap), {
      most: 4,
    }),
    check("KB of the process each", kilobytesOf(after.rss - before.rss), { most: 16 }),
    check("KB on disk each", (after.bytes - before.bytes) / count / 1_024, { most: 2 }),
  ];
}

const check = (
  what: string,
  value: number,
  bounds: Readonly<{ least?: number; most?: number }> = {},
): CodeCheck => ({ what, value, ...bounds });

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
