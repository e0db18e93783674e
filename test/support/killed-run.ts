// Processes and kills, until everything that was started has ended; the observations are for the
// test.

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
import { inParallel } from "./killed-in-parallel.ts";
import { type Hit, hitOf, type Run, readLedger } from "./killed-ledger.ts";
import { type Plan, PROCESSES, variablesOf } from "./killed-processes.ts";
import { liveInstances } from "./killed-state.ts";

/** Certainly live before a process may be killed; a few end until it is. */
const WANTED_LIVE = 560;
/** A kill comes within this time, while starts continue: everything is running then. */
const KILL_WITHIN_MS = 400;
/** Most instances outlive several processes. */
const WAIT_MS = { min: 2_000, max: 30_000 };
const SHARE_OF_LIVES = 0.6;

/** `wantedAt`: when it was first requested. */
export type Started = Readonly<{ id: string; plan: Plan; wantedAt: number }>;

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

/**
 * Kills an engine this many times, lets it finish its work undisturbed, and returns the
 * observations.
 */
export async function killAndSee(kills: number): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-killed-"));
  try {
    return await runLives({ data: join(folder, "data"), ledger: join(folder, "ledger") }, kills);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A slot was free, and a task waited that had not started: between commit and dispatch. */
export const isBetween = ({ atWork, waiting }: Hit): boolean => atWork < CONCURRENCY && waiting > 0;

async function runLives(folders: Folders, wanted: number): Promise<Seen> {
  writeFileSync(folders.ledger, "");
  const kills: Hit[] = [];
  const lives: { from: number; to: number }[] = [];
  const starts = new Starts();
  let life = await startLife(folders, 1);
  try {
    for (const source of PROCESSES) await deploy(life.url, source);
    for (let kill = 1; kill <= wanted; kill++) {
      const killedAt = await killSoon(life, starts);
      lives.push({ from: life.openedAt, to: killedAt });
      const instances = await liveInstances(folders.data, ["life", "fan"]);
      const hit = hitOf(instances, readLedger(folders.ledger), killedAt);
      kills.push(hit);
      tell(`kill ${kill} of ${wanted}`, hit, kills.filter(isBetween).length, life);
      life = await startLife(folders, kill + 1);
    }
    await starts.repeatLost(life);
    const ends = await seeEnds(life, starts.all);
    lives.push({ from: life.openedAt, to: Date.now() });
    return { ...ends, kills, lives, started: starts.all, ledger: readLedger(folders.ledger) };
  } finally {
    await life.kill();
  }
}

/** Starts enough instances, then kills at a random moment while it continues to start more. */
async function killSoon(life: Life, starts: Starts): Promise<number> {
  await starts.topUp(life, WANTED_LIVE);
  const dying = new AbortController();
  const more = starts.goOn(life, dying.signal);
  await pause(Math.random() * KILL_WITHIN_MS);
  const killedAt = await life.kill();
  dying.abort();
  await more;
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

/** The starts of all processes. One that was cut off is sent again, until it is acknowledged. */
class Starts {
  readonly all: Started[] = [];
  /** Until when each acknowledged instance cannot have ended: its timer is not due before. */
  readonly #liveUntil: number[] = [];
  #lost: Started[] = [];

  /** Starts until this many are certainly live. */
  async topUp(life: Life, wanted: number): Promise<void> {
    await this.repeatLost(life);
    await inParallel(
      this.#while(() => this.#countLive() < wanted),
      (it) => this.#start(life, it),
    );
  }

  /** Starts one after another, as fast as they are acknowledged, until it is stopped. */
  async goOn(life: Life, stop: AbortSignal): Promise<void> {
    await inParallel(
      this.#while(() => !stop.aborted),
      (it) => this.#start(life, it),
    );
  }

  async repeatLost(life: Life): Promise<void> {
    const lost = this.#lost;
    this.#lost = [];
    await inParallel(lost, (it) => this.#start(life, it));
  }

  *#while(isWanted: () => boolean): Generator<Started> {
    while (isWanted()) yield this.#next();
  }

  #countLive(): number {
    const now = Date.now();
    return this.#liveUntil.reduce((count, until) => (until > now ? count + 1 : count), 0);
  }

  async #start(life: Life, start: Started): Promise<void> {
    const { id, plan, wantedAt } = start;
    const body = { instanceId: id, variables: variablesOf(plan) };
    if (!(await tryStart(life.url, plan.process, body))) this.#lost.push(start);
    else if (plan.process === "life") this.#liveUntil.push(wantedAt + plan.waitMs);
  }

  #next(): Started {
    const process = Math.random() < SHARE_OF_LIVES ? "life" : "fan";
    const waitMs = WAIT_MS.min + Math.floor(Math.random() * (WAIT_MS.max - WAIT_MS.min));
    const plan: Plan = { process, waitMs, isSlow: Math.random() < 0.3 };
    const start = { id: `i${this.all.length + 1}`, plan, wantedAt: Date.now() };
    this.all.push(start);
    return start;
  }
}

function tell(which: string, { live, atWork, waiting }: Hit, hits: number, life: Life): void {
  const { resumed, timersFired } = life.recovered;
  process.stdout.write(
    `${which}: ${live} live, ${atWork} tasks at work, ${waiting} not begun; ` +
      `${hits} between commit and dispatch; its process started with ${resumed} resumed, ${timersFired} overdue\n`,
  );
}
