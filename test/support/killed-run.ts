// Lives and kills, until all that was started has ended; what was seen meanwhile is for the test.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  deploy,
  type HistoryEntry,
  historyOf,
  instancesOf,
  type Result,
  resultOf,
  tryStart,
} from "./killed-client.ts";
import { CONCURRENCY, type Folders, type Life, startLife } from "./killed-host.ts";
import { type Hit, hitOf, type Run, readLedger } from "./killed-ledger.ts";
import { type Plan, PROCESSES, variablesOf } from "./killed-processes.ts";
import { liveInstances } from "./killed-state.ts";

/** Started up to this number after every kill, so that more than half are left at the next. */
const WANTED_LIVE = 1_000;
const CALLERS = 32;

export type Started = Readonly<{ id: string; plan: Plan }>;

/** Everything that the test compares; moments are wall clock. */
export type Seen = Readonly<{
  kills: readonly Hit[];
  /** From when to when the engine was open. */
  lives: readonly Readonly<{ from: number; to: number }>[];
  /** Every start; all were acknowledged in the end. */
  started: readonly Started[];
  listed: ReadonlyMap<string, string>;
  results: ReadonlyMap<string, Result>;
  histories: ReadonlyMap<string, readonly HistoryEntry[]>;
  ledger: readonly Run[];
}>;

/** Kills an engine so many times, lets it end its work undisturbed, and tells what was seen. */
export async function killAndSee(kills: number): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-killed-"));
  try {
    return await runLives({ data: join(folder, "data"), ledger: join(folder, "ledger") }, kills);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A slot was free, and a task waited that nobody had begun: between commit and dispatch. */
export const isBetween = ({ atWork, waiting }: Hit): boolean => atWork < CONCURRENCY && waiting > 0;

async function runLives(folders: Folders, wanted: number): Promise<Seen> {
  writeFileSync(folders.ledger, "");
  const kills: Hit[] = [];
  const lives: { from: number; to: number }[] = [];
  const starts = new Starts();
  let life = await startLife(folders, 1);
  try {
    for (const source of PROCESSES) await deploy(life.url, source);
    await starts.topUp(life, WANTED_LIVE);
    for (let kill = 1; kill <= wanted; kill++) {
      const killedAt = await killSoon(life, starts);
      lives.push({ from: life.openedAt, to: killedAt });
      const instances = await liveInstances(folders.data, ["life", "fan"]);
      const hit = hitOf(instances, readLedger(folders.ledger), killedAt);
      kills.push(hit);
      tell(`kill ${kill} of ${wanted}`, hit, kills.filter(isBetween).length, life);
      life = await startLife(folders, kill + 1);
      starts.live = hit.live;
    }
    await starts.repeatLost(life);
    const ends = await seeEnds(life, starts.all);
    lives.push({ from: life.openedAt, to: Date.now() });
    return { ...ends, kills, lives, started: starts.all, ledger: readLedger(folders.ledger) };
  } finally {
    await life.kill();
  }
}

/** Goes on starting instances, and kills at a random moment meanwhile or shortly after. */
async function killSoon(life: Life, starts: Starts): Promise<number> {
  const filling = starts.topUp(life, WANTED_LIVE);
  await pause(100 + Math.random() * 900);
  const killedAt = await life.kill();
  await filling;
  return killedAt;
}

async function seeEnds(life: Life, started: readonly Started[]) {
  const results = new Map<string, Result>();
  const histories = new Map<string, readonly HistoryEntry[]>();
  await inParallel(started, async ({ id }) => {
    results.set(id, await resultOf(life.url, id));
    histories.set(id, await historyOf(life.url, id));
  });
  return { results, histories, listed: await instancesOf(life.url) };
}

/** The starts of all lives. One that was cut off is sent again, until it is acknowledged. */
class Starts {
  readonly all: Started[] = [];
  /** How many live ones the last kill left; counted up by what is started since. */
  live = 0;
  #lost: Started[] = [];

  async topUp(life: Life, wanted: number): Promise<void> {
    await this.repeatLost(life);
    const fresh = Array.from({ length: Math.max(0, wanted - this.live) }, () => this.#next());
    await this.#start(life, fresh);
  }

  async repeatLost(life: Life): Promise<void> {
    const lost = this.#lost;
    this.#lost = [];
    await this.#start(life, lost);
  }

  async #start(life: Life, starts: readonly Started[]): Promise<void> {
    await inParallel(starts, async (start) => {
      const body = { instanceId: start.id, variables: variablesOf(start.plan) };
      const isAcknowledged = await tryStart(life.url, start.plan.process, body);
      if (!isAcknowledged) this.#lost.push(start);
      else this.live += 1;
    });
  }

  #next(): Started {
    const process = Math.random() < 0.8 ? "life" : "fan";
    const waitMs = 500 + Math.floor(Math.random() * 6_000);
    const plan: Plan = { process, waitMs, isSlow: Math.random() < 0.3 };
    const start = { id: `i${this.all.length + 1}`, plan };
    this.all.push(start);
    return start;
  }
}

async function inParallel<T>(items: readonly T[], use: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const work = async () => {
    for (const item of left) await use(item);
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
}

function tell(which: string, { live, atWork, waiting }: Hit, hits: number, life: Life): void {
  const { resumed = 0, timersFired = 0 } = life.recovered;
  process.stdout.write(
    `${which}: ${live} live, ${atWork} tasks at work, ${waiting} not begun; ` +
      `${hits} between commit and dispatch; its life began with ${resumed} resumed, ${timersFired} overdue\n`,
  );
}
