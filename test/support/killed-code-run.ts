// Kills an engine with workflows in code, again and again, while events come in; the observations
// are for the test.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JournalEntry } from "../../lib/kernel/trail.ts";
import {
  type HistoryEntry,
  historyOf,
  type Result,
  resultOf,
  tryEvent,
  tryStart,
} from "./killed-client.ts";
import { type Folders, type Life, startLife } from "./killed-host.ts";
import { inParallel } from "./killed-in-parallel.ts";
import { type Hit, hitOf, type Run, readLedger } from "./killed-ledger.ts";
import { journalsOf, liveInstances } from "./killed-state.ts";

/** Certainly live before a process may be killed. */
const WANTED_LIVE = 540;
/** Steps make progress in every life, or they would be suspected of killing it. */
const KILL_MS = { min: 300, max: 1_000 };
const WAIT_MS = { min: 15_000, max: 40_000 };

/** Until its kill a process may take so long. */
const MARGIN_MS = 3_000;

export type SeenCode = Readonly<{
  kills: readonly Hit[];
  started: readonly string[];
  /** Instances that were sent an event, under one id each. */
  told: ReadonlySet<string>;
  results: ReadonlyMap<string, Result>;
  histories: ReadonlyMap<string, readonly HistoryEntry[]>;
  journals: ReadonlyMap<string, readonly JournalEntry[]>;
  ledger: readonly Run[];
}>;

export async function killCodeAndSee(wanted: number): Promise<SeenCode> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-killed-code-"));
  try {
    return await runLives({ data: join(folder, "data"), ledger: join(folder, "ledger") }, wanted);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runLives(folders: Folders, wanted: number): Promise<SeenCode> {
  writeFileSync(folders.ledger, "");
  const kills: Hit[] = [];
  const crowd = new Crowd();
  let life = await startLife(folders, 1, PROGRAM);
  try {
    for (let kill = 1; kill <= wanted; kill++) {
      await crowd.topUp(life);
      const dying = new AbortController();
      const more = crowd.goOn(life, dying.signal);
      await pause(KILL_MS.min + Math.random() * (KILL_MS.max - KILL_MS.min));
      const killedAt = await life.kill();
      dying.abort();
      await more;
      const live = await liveInstances(folders.data, ["life"]);
      kills.push(hitOf(live, readLedger(folders.ledger), killedAt));
      process.stdout.write(`kill ${kill} of ${wanted}: ${JSON.stringify(kills.at(-1))}\n`);
      life = await startLife(folders, kill + 1, PROGRAM);
    }
    const ends = await crowd.seeEnds(life);
    await life.kill();
    const journals = await journalsOf(folders.data, "life");
    const { told } = crowd;
    const started = crowd.all;
    return { ...ends, kills, started, told, journals, ledger: readLedger(folders.ledger) };
  } finally {
    await life.kill().catch(() => {});
  }
}

const PROGRAM = "killed-code-engine.ts";

/** Starts and events of all processes; what was cut off is sent again, until it is acknowledged. */
class Crowd {
  readonly all: string[] = [];
  readonly told = new Set<string>();
  readonly #inputs = new Map<string, number>();
  readonly #liveUntil = new Map<string, number>();
  #lost: (() => Promise<void>)[] = [];

  async topUp(life: Life): Promise<void> {
    await this.#repeat(life);
    const now = Date.now();
    const live = [...this.#liveUntil.values()].filter((until) => until > now).length;
    const missing = Array.from({ length: Math.max(0, WANTED_LIVE - live) });
    await inParallel(missing, () => this.#start(life, this.#next()));
  }

  /** Starts and events, as fast as they are acknowledged, until it is stopped. */
  async goOn(life: Life, stop: AbortSignal): Promise<void> {
    const work = async () => {
      while (!stop.aborted) {
        if (Math.random() < 0.5) await this.#start(life, this.#next());
        else await this.#tell(life, this.all[Math.floor(Math.random() * this.all.length)] ?? "");
        await pause(5);
      }
    };
    await Promise.all(Array.from({ length: 4 }, work));
  }

  async seeEnds(life: Life) {
    await this.#repeat(life);
    const results = new Map<string, Result>();
    const histories = new Map<string, readonly HistoryEntry[]>();
    await inParallel(this.all, async (id) => {
      results.set(id, await resultOf(life.url, id));
      histories.set(id, await historyOf(life.url, id));
    });
    return { results, histories };
  }

  async #repeat(life: Life): Promise<void> {
    const lost = this.#lost;
    this.#lost = [];
    this.#life = life;
    await inParallel(lost, (again) => again());
  }

  #life: Life | undefined;

  async #start(life: Life, id: string): Promise<void> {
    const waitMs = this.#inputs.get(id) ?? 0;
    if (await tryStart(life.url, "life", { instanceId: id, input: { waitMs } })) {
      this.#liveUntil.set(id, Date.now() + waitMs - MARGIN_MS);
    } else {
      this.#lost.push(() => this.#start(this.#life ?? life, id));
    }
  }

  /** Only the first event of an instance is told: sent again it has the same id. */
  async #tell(life: Life, id: string): Promise<void> {
    if (this.told.has(id) || this.#lost.length > 0) return pause(1);
    this.told.add(id);
    this.#liveUntil.delete(id);
    await this.#send(life, id);
  }

  async #send(life: Life, id: string): Promise<void> {
    const event = { name: "go", target: id, id: `go-${id}`, payload: `to ${id}` };
    if (!(await tryEvent(life.url, event).catch(isUnknownYet))) {
      this.#lost.push(() => this.#send(this.#life ?? life, id));
    }
  }

  #next(): string {
    const id = `i${this.all.length + 1}`;
    this.all.push(id);
    this.#inputs.set(id, WAIT_MS.min + Math.floor(Math.random() * (WAIT_MS.max - WAIT_MS.min)));
    return id;
  }
}

/** Its start may not be there yet: it is sent again later. */
function isUnknownYet(cause: unknown): false {
  if (cause instanceof Error && cause.message.includes("404")) return false;
  throw cause;
}
