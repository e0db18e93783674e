// A signal to many waits, and messages to one wait each, through the library. It also counts
// commits: a wait, a delivery and a message take one each, or the run fails.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { MAX_ROWS_PER_SHARD, PAGES_PER_TURN, ROWS_PER_PAGE } from "../lib/definition/limits.ts";
import { type EmbeddedEngine, openEngine, type TrailNews } from "../lib/embedded/index.ts";
import { closedLoop } from "./measures.ts";
import { heldMemory, type Memory, Peak } from "./memory.ts";
import { messageWaiter, signalWaiter } from "./processes.ts";
import { alone, compared, type Row } from "./table.ts";
import { measureTopicCeiling, type TopicFigures } from "./topic-ceiling.ts";

/** How many commits an operation took, and how many it may take. */
export type Check = Readonly<{ what: string; commits: number; least: number; most: number }>;

export type Measured = Readonly<{ rows: readonly Row[]; checks: readonly Check[] }>;

const CALLERS = 64;
const WARM = 500;
/**
 * The other commits of a broadcast: its number, its place, itself, its fan-out plan and its end.
 */
const PER_BROADCAST = 5;

export async function measureTopics(count: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-bench-"));
  const received = receivedOf();
  const engine = await openEngine({ dataDir: folder, onTrail: received.hear });
  try {
    for (const name of ["warm", "go"]) await engine.deploy(signalWaiter(`on-${name}`, name));
    await engine.deploy(messageWaiter("on-paid", "paid"));
    await warmUp(engine, received);
    const signal = await measureSignal(engine, count, received);
    const messages = await measureMessages(engine, count);
    const sizes = { instance: signal.instanceBytes, companion: messages.boxBytes };
    const ceiling = best(measureTopicCeiling(count, sizes), measureTopicCeiling(count, sizes));
    return {
      rows: [...signalRows(count, signal, ceiling), ...messageRows(count, messages, ceiling)],
      checks: [...signal.checks, ...messages.checks],
    };
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Received = ReturnType<typeof receivedOf>;

/** Counts deliveries, and measures the memory meanwhile. */
function receivedOf() {
  let count = 0;
  let wanted = { at: Number.POSITIVE_INFINITY, tell: () => {} };
  const peak = new Peak();
  const hear = ({ type }: TrailNews): void => {
    if (type !== "signal-received") return;
    count += 1;
    if (count % 50 === 0) peak.look();
    if (count === wanted.at) wanted.tell();
  };
  /** Resolves after this many more deliveries. */
  const more = (much: number): Promise<void> =>
    new Promise((tell) => {
      wanted = { at: count + much, tell };
    });
  return { hear, more, peak };
}

async function warmUp(engine: EmbeddedEngine, received: Received): Promise<void> {
  await start(engine, "on-warm", WARM);
  const all = received.more(WARM);
  await engine.signal("warm", {});
  await all;
  const ids = Array.from({ length: WARM }, (_, n) => `warm-${n}`);
  await each(ids, (key) => engine.start("on-paid", { variables: { key } }));
  await each(ids, (key) => engine.message({ name: "paid", correlationKey: key }));
  await engine.start("on-go", {}); // creates the topic
  await engine.signal("go", {});
  await engine.idle();
}

async function measureSignal(engine: EmbeddedEngine, count: number, received: Received) {
  const counted = engine.counters();
  const waits = await start(engine, "on-go", count);
  const waiting = difference(engine.counters(), counted);
  const before = heldMemory();
  const all = received.more(count);
  const begin = performance.now();
  const { broadcastId } = await engine.signal("go", { by: "bench" });
  await all;
  while (!(await engine.receipt(broadcastId)).complete) await pause(1);
  const seconds = (performance.now() - begin) / 1_000;
  await engine.idle();
  const delivered = difference(engine.counters(), waiting, counted);
  const { matched } = await engine.receipt(broadcastId);
  const pages = Math.ceil(count / ROWS_PER_PAGE);
  const checks: readonly Check[] = [
    { what: `${count} waits begun`, commits: waiting.commits, least: count, most: count },
    {
      what: `a signal to ${matched}`,
      commits: delivered.commits,
      least: count,
      // Pages are sent in shard batches, each stored as one; a crowded shard makes the topic grow
      // once.
      most:
        matched +
        pages +
        Math.ceil(pages / PAGES_PER_TURN) +
        (matched > MAX_ROWS_PER_SHARD ? 1 : 0) +
        PER_BROADCAST,
    },
  ];
  const { peak } = received;
  return {
    waits: waits.perSecond,
    deliveries: count / seconds,
    memory: { before, peak: { rss: peak.rss, heap: peak.heap }, after: heldMemory() },
    readsEach: delivered.reads / count,
    instanceBytes: Math.round(delivered.bytes / count),
    checks,
  };
}

async function measureMessages(engine: EmbeddedEngine, count: number) {
  const late = Array.from({ length: count }, (_, n) => `late-${n}`);
  const early = Array.from({ length: count }, (_, n) => `early-${n}`);
  const startFor = (key: string) => engine.start("on-paid", { variables: { key } });
  const send = (correlationKey: string) =>
    engine.message({ name: "paid", correlationKey, payload: { by: "bench" } });
  await each(late, startFor);
  const toWaiting = await counting(engine, () => each(late, send));
  const buffered = await counting(engine, () => each(early, send));
  const consumed = await counting(engine, () => each(early, startFor));
  const check = (what: string, { commits }: Counted): Check => ({
    what: `${count} ${what}`,
    commits,
    least: count,
    most: count,
  });
  return {
    toWaiting: toWaiting.perSecond,
    buffered: buffered.perSecond,
    consumed: consumed.perSecond,
    boxBytes: Math.round(buffered.counted.bytes / count),
    checks: [
      check("messages to open waits", toWaiting.counted),
      check("early messages", buffered.counted),
      check("waits that find their message", consumed.counted),
    ],
  };
}

function signalRows(
  count: number,
  signal: Awaited<ReturnType<typeof measureSignal>>,
  ceiling: TopicFigures,
): readonly Row[] {
  const { before, peak, after } = signal.memory;
  const many = count.toLocaleString("en");
  return [
    compared(`${many} waits for a signal opened, a second`, signal.waits, ceiling.waits),
    compared(`a signal to ${many}, deliveries a second`, signal.deliveries, ceiling.deliveries),
    alone("items read for each", signal.readsEach),
    ...memoryRows({ before, peak, after }),
  ];
}

function memoryRows(of: Readonly<Record<"before" | "peak" | "after", Memory>>): readonly Row[] {
  return (["before", "peak", "after"] as const).flatMap((when) => [
    alone(`heap ${when}, MiB`, of[when].heap),
    alone(`process ${when}, MiB`, of[when].rss),
  ]);
}

const messageRows = (
  count: number,
  { toWaiting, buffered, consumed }: Awaited<ReturnType<typeof measureMessages>>,
  { messages, early, waits }: TopicFigures,
): readonly Row[] => [
  compared(`${count.toLocaleString("en")} messages to open waits, a second`, toWaiting, messages),
  compared("early messages kept, a second", buffered, early),
  compared("waits that find their message, a second", consumed, waits),
];

const start = (engine: EmbeddedEngine, id: string, count: number) =>
  closedLoop({ count, callers: CALLERS }, async () => {
    await engine.start(id, {});
  });

/** Runs the function for each, 64 at once. */
async function each(items: readonly string[], work: (item: string) => Promise<unknown>) {
  const left = items.values();
  return closedLoop({ count: items.length, callers: CALLERS }, async () => {
    const { value } = left.next();
    if (value !== undefined) await work(value);
  });
}

type Counted = ReturnType<EmbeddedEngine["counters"]>;

async function counting(engine: EmbeddedEngine, work: () => ReturnType<typeof each>) {
  const before = engine.counters();
  const { perSecond } = await work();
  await engine.idle();
  return { perSecond, counted: difference(engine.counters(), before) };
}

/** Without what was counted before. */
function difference(now: Counted, ...before: readonly Counted[]): Counted {
  const less = (of: (counted: Counted) => number) =>
    before.reduce((left, counted) => left - of(counted), of(now));
  return {
    reads: less(({ reads }) => reads),
    commits: less(({ commits }) => commits),
    writes: less(({ writes }) => writes),
    bytes: less(({ bytes }) => bytes),
  };
}

/** The machine may have been busy during one of them. */
function best(a: TopicFigures, b: TopicFigures): TopicFigures {
  return {
    waits: Math.max(a.waits, b.waits),
    deliveries: Math.max(a.deliveries, b.deliveries),
    messages: Math.max(a.messages, b.messages),
    early: Math.max(a.early, b.early),
  };
}
