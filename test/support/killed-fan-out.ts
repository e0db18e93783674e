// Messages and one signal to many, while the process is killed; the observations are for the test.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import {
  deploy,
  type HistoryEntry,
  historyOf,
  instancesOf,
  type Result,
  resultOf,
} from "./killed-client.ts";
import type { Folders, Life } from "./killed-host.ts";
import { inParallel } from "./killed-in-parallel.ts";
import { type Run, readLedger } from "./killed-ledger.ts";
import { Mortal } from "./killed-mortal.ts";
import { leftAfter, liveInstances } from "./killed-state.ts";
import { AFTER, ANSWER, type Kind, LETTER, SIGNAL, WAITS } from "./killed-waits.ts";
import type { Left } from "./left-in-store.ts";

/** Kills during the calls that start readers and send messages, at random moments. */
const KILLS_AMONG_MESSAGES = 2;
/** Kills once this share of the waits has continued; the first comes during the call itself. */
const KILLED_AT = [0, 0.1, 0.25, 0.4, 0.6, 0.8, 0.95];
const KILL_WITHIN_MS = 300;
/** How long the receipt, and everything that runs, may take after the last kill. */
const PATIENCE_MS = 60_000;

const BROADCAST = "broadcast-1";
/** Another one when all is over; the last kill may come before its own end was noted. */
export const AFTERWARDS = "broadcast-2";

/** How many there are of each kind. */
export type Crowd = Readonly<Record<Kind, number>>;

/** What a kill during the fan-out hit: the instances that still waited for the signal then. */
export type FanOutHit = Readonly<{ waiting: number; isAccepted: boolean; peakMiB: number }>;

const Receipt = z.object({
  complete: z.boolean(),
  matched: z.number(),
  delivered: z.number(),
  skipped: z.number(),
  started: z.number(),
  expired: z.number(),
  failed: z.array(z.unknown()),
});
const Items = z.object({ items: z.array(z.unknown()) });
const Sent = z.object({ outcome: z.string() });
const Signalled = z.object({ deliveredCount: z.number().optional() });

/** Everything that the test compares. */
export type SeenFanOut = Readonly<{
  ids: ReadonlyMap<string, Kind>;
  /** The instances to which a message was sent while the signal was being delivered. */
  answered: ReadonlySet<string>;
  kills: readonly FanOutHit[];
  receipt: z.infer<typeof Receipt>;
  listed: ReadonlyMap<string, string>;
  results: ReadonlyMap<string, Result>;
  histories: ReadonlyMap<string, readonly HistoryEntry[]>;
  /** The outcome of new waits under the keys of waits that the signal had closed. */
  takenAgain: ReadonlyMap<string, string>;
  /** Waits of all instances together, and open tasks. */
  waits: number;
  tasks: number;
  /** The waits that another signal reached afterwards. */
  reachedAfterwards: number | undefined;
  ledger: readonly Run[];
  /** What the store held when all was over. */
  left: Left;
  ms: number;
}>;

export async function killDuringFanOut(crowd: Crowd): Promise<SeenFanOut> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-killed-"));
  const folders = { data: join(folder, "data"), ledger: join(folder, "ledger") };
  writeFileSync(folders.ledger, "");
  const mortal = new Mortal(folders);
  try {
    const seen = await run(mortal, folders, crowd);
    await mortal.end();
    return { ...seen, left: await leftAfter(folders.data) };
  } catch (cause) {
    await mortal.end();
    throw cause;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(
  mortal: Mortal,
  folders: Folders,
  crowd: Crowd,
): Promise<Omit<SeenFanOut, "left">> {
  for (const source of WAITS) await deploy((await mortal.life).url, source);
  const ids = idsOf(crowd);
  const begin = Date.now();
  await Promise.all([writeLetters(mortal, ids), killAtRandom(mortal, KILLS_AMONG_MESSAGES)]);
  const waiting = ofKinds(ids, ["waiter", "host", "race"]);
  await inParallel(waiting, (id) => startOne(mortal, ids, id));
  const answered = new Set(ofKinds(ids, ["host", "race"]).filter((_, n) => n % 2 === 0));
  const signalledAt = Date.now();
  const [, kills] = await Promise.all([
    mortal.ask("/v1/signals", { name: SIGNAL, id: BROADCAST, payload: { by: BROADCAST } }),
    killAsTheyGoOn(mortal, folders, waiting.length),
    inParallel(answered, async (id) => {
      await send(mortal, ANSWER, id, `${id}-answer`);
    }),
  ]);
  const receipt = await completeReceipt(mortal);
  tell(
    `complete after ${Date.now() - signalledAt} ms with ${kills.length} kills: ` +
      `${receipt.delivered} delivered, ${receipt.skipped} skipped`,
  );
  const { url } = await mortal.life;
  await allEnded(mortal);
  const ends = await seeEnds(url, [...ids.keys()]);
  const listed = await instancesOf(url);
  const unanswered = ofKinds(ids, ["host", "race"]).filter((id) => !answered.has(id));
  const takenAgain = await waitAgain(mortal, ids, unanswered);
  const tasks = Items.parse(await mortal.ask("/v1/tasks?limit=200")).items.length;
  const again = await mortal.ask("/v1/signals", { name: SIGNAL, id: AFTERWARDS });
  const reachedAfterwards = Signalled.parse(again).deliveredCount;
  const ledger = readLedger(folders.ledger);
  const ms = Date.now() - begin;
  const after = { takenAgain, tasks, reachedAfterwards, ledger, ms };
  return { ...ends, ids, answered, kills, receipt, listed, ...after };
}

function idsOf(crowd: Crowd): ReadonlyMap<string, Kind> {
  const kinds: readonly Kind[] = ["waiter", "host", "race", "reader"];
  return new Map(
    kinds.flatMap((kind) =>
      Array.from({ length: crowd[kind] }, (_, n) => [`${kind}-${n + 1}`, kind] as const),
    ),
  );
}

const ofKinds = (ids: ReadonlyMap<string, Kind>, kinds: readonly Kind[]): readonly string[] =>
  [...ids].flatMap(([id, kind]) => (kinds.includes(kind) ? [id] : []));

async function startOne(
  mortal: Mortal,
  ids: ReadonlyMap<string, Kind>,
  instanceId: string,
): Promise<void> {
  const path = `/v1/definitions/${ids.get(instanceId)}/instances`;
  await mortal.ask(path, { instanceId, variables: { key: instanceId } });
}

async function send(mortal: Mortal, name: string, key: string, messageId: string): Promise<string> {
  const body = { name, correlationKey: key, messageId };
  return Sent.parse(await mortal.ask("/v1/messages", body)).outcome;
}

/** Both messages of every reader, each of them twice: before it starts, after, and around it. */
async function writeLetters(mortal: Mortal, ids: ReadonlyMap<string, Kind>): Promise<void> {
  const orders = [
    ["1", "1", "2", "2", "start"],
    ["1", "start", "2", "1", "2"],
    ["start", "1", "2", "1", "2"],
    ["1", "2", "start", "2", "1"],
  ];
  const readers = ofKinds(ids, ["reader"]).entries();
  await inParallel(readers, async ([n, id]) => {
    for (const step of orders[n % orders.length] ?? []) {
      if (step === "start") await startOne(mortal, ids, id);
      else await send(mortal, LETTER, id, `${id}-${step}`);
    }
  });
}

async function killAtRandom(mortal: Mortal, kills: number): Promise<void> {
  for (let kill = 1; kill <= kills; kill++) {
    await pause(Math.random() * KILL_WITHIN_MS);
    await mortal.kill(async () => tell(`kill ${kill} of ${kills} among messages`));
  }
}

async function killAsTheyGoOn(
  mortal: Mortal,
  { data, ledger }: Folders,
  waiting: number,
): Promise<readonly FanOutHit[]> {
  const before = goneOn(ledger);
  const hits: FanOutHit[] = [];
  for (const share of KILLED_AT) {
    if (share === 0) await pause(Math.random() * 30);
    else await untilGone(ledger, before + share * waiting);
    const peakMiB = peakMiBOf(await mortal.life);
    const hit = await mortal.kill(async () => ({ ...(await hitIn(data)), peakMiB }));
    hits.push(hit);
    tell(
      `kill ${hits.length} of ${KILLED_AT.length} in the fan-out: ${hit.waiting} of ${waiting} ` +
        `still waited; its life took ${Math.round(hit.peakMiB)} MiB at most`,
    );
  }
  return hits;
}

/** Waits until the task after the wait has started in this many instances. */
async function untilGone(ledger: string, wanted: number): Promise<void> {
  while (goneOn(ledger) < wanted) await pause(3);
}

const goneOn = (ledger: string): number =>
  new Set(readLedger(ledger).flatMap(({ key, element }) => (element === AFTER ? [key] : []))).size;

async function hitIn(data: string): Promise<Omit<FanOutHit, "peakMiB">> {
  const live = await liveInstances(data, ["waiter", "host", "race"]);
  const waiting = live.filter(({ tickets }) => tickets.some(({ on }) => on === "signal")).length;
  const { due } = await leftAfter(data);
  return { waiting, isAccepted: due.some((key) => key.includes(BROADCAST)) };
}

/** The peak memory of the process; nothing if the system does not report it. */
function peakMiBOf({ pid }: Life): number {
  try {
    const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(line?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}

async function completeReceipt(mortal: Mortal): Promise<z.infer<typeof Receipt>> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const receipt = Receipt.parse(await mortal.ask(`/v1/signals/${BROADCAST}`));
    if (receipt.complete || Date.now() > until) return receipt;
    await pause(20);
  }
}

/** Other instances of the same process wait under the same keys, and get a message each. */
async function waitAgain(
  mortal: Mortal,
  ids: ReadonlyMap<string, Kind>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const outcomes = new Map<string, string>();
  await inParallel(keys, async (key) => {
    const path = `/v1/definitions/${ids.get(key)}/instances`;
    await mortal.ask(path, { instanceId: `${key}-again`, variables: { key } });
    outcomes.set(key, await send(mortal, ANSWER, key, `${key}-again`));
  });
  await allEnded(mortal);
  return outcomes;
}

/** Waits until nothing runs any more; reports what still does at the timeout. */
async function allEnded(mortal: Mortal): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const pages = ["running", "suspended"].map((status) =>
      mortal.ask(`/v1/instances?status=${status}&limit=3`),
    );
    const items = (await Promise.all(pages)).flatMap((page) => Items.parse(page).items);
    if (items.length === 0) return;
    if (Date.now() > until) throw new Error(`they never ended: ${JSON.stringify(items)}`);
    await pause(20);
  }
}

async function seeEnds(url: string, ids: readonly string[]) {
  const results = new Map<string, Result>();
  const histories = new Map<string, readonly HistoryEntry[]>();
  let waits = 0;
  await inParallel(ids, async (id) => {
    results.set(id, await resultOf(url, id));
    histories.set(id, await historyOf(url, id));
    const response = await fetch(`${url}/v1/instances/${id}/waits`);
    waits += Items.parse(await response.json()).items.length;
  });
  return { results, histories, waits };
}

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
