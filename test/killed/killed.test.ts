// Kills the engine with SIGKILL at random moments, while hundreds of instances are at work, and
// compares at the end what it promised (acknowledged starts), what handlers did (the ledger, which
// is this test's own) and what it says (histories, states). The long form: FERMATA_LONG=1.
//
// A kill shows recovery, not durability: what was written outlives the process in the page cache.
// That every acknowledged commit was flushed is shown by `npm run test:durable`.

import { beforeAll, describe, expect, it } from "vitest";
import type { HistoryEntry } from "../support/killed-client.ts";
import { armedBy, FAILURES_OF_D, tasksOf, timersOf } from "../support/killed-processes.ts";
import { isBetween, killAndSee, type Seen } from "../support/killed-run.ts";

const KILLS = process.env.FERMATA_LONG === "1" ? 200 : 20;
const MIN_LIVE = 500;
/** How long a process may take to fire what is due; generous, because the machine is busy then. */
const PROMPT_MS = 5_000;

describe(`an engine that is killed ${KILLS} times under load`, () => {
  let seen: Seen;
  beforeAll(async () => {
    seen = await killAndSee(KILLS);
  }, KILLS * 60_000);

  it(`had at least ${MIN_LIVE} live instances at every kill`, () => {
    expect(Math.min(...seen.kills.map(({ live }) => live))).toBeGreaterThanOrEqual(MIN_LIVE);
  });

  it("was killed between commit and dispatch in about one of ten kills", () => {
    const hits = seen.kills.filter(isBetween).length;
    expect(hits).toBeGreaterThanOrEqual(KILLS === 20 ? 1 : KILLS / 10);
  });

  it("has ended every acknowledged start as expected, and has no other instance", () => {
    expect([...seen.listed.keys()].sort()).toEqual(seen.started.map(({ id }) => id).sort());
    for (const { id, plan } of seen.started) {
      expect([id, seen.results.get(id)?.status]).toEqual([id, "succeeded"]);
      const ends = entriesOf(id).filter(({ type }) => type === "instance-ended");
      expect([id, ends.length, entriesOf(id).at(-1)?.type]).toEqual([id, 1, "instance-ended"]);
      const { wait, patience, slow, ...keys } = seen.results.get(id)?.variables ?? {};
      expect([id, Object.keys(keys).sort()]).toEqual([id, [...tasksOf(plan).completed].sort()]);
    }
  });

  it("has completed every task once in history, by a run that is in the ledger", () => {
    const runs = new Set(seen.ledger.map(({ key, element }) => `${key} ${element}`));
    for (const { id, plan } of seen.started) {
      const completed = elementsOf(id, "task-completed");
      expect([id, completed.sort()]).toEqual([id, [...tasksOf(plan).completed].sort()]);
      for (const element of completed) {
        const key = seen.results.get(id)?.variables[element];
        expect([id, element, runs.has(`${key} ${element}`)]).toEqual([id, element, true]);
      }
      const failed = elementsOf(id, "task-failed");
      expect([id, failed]).toEqual([
        id,
        plan.process === "fan" ? [] : Array(FAILURES_OF_D).fill("d"),
      ]);
    }
  });

  it("ran handlers for its own instances only, and none twice in one process", () => {
    const known = new Set(seen.started.map(({ id }) => id));
    expect(seen.ledger.filter(({ key }) => !known.has(key.split(":")[0] ?? ""))).toEqual([]);
    const runs = new Set<string>();
    const doubles: string[] = [];
    for (const { life, key, attempt, element } of seen.ledger) {
      const run = `life ${life}: ${key} attempt ${attempt} of ${element}`;
      if (runs.has(run)) doubles.push(run);
      runs.add(run);
    }
    expect(doubles).toEqual([]);
  });

  it("numbered every history without gaps", () => {
    for (const { id } of seen.started) {
      const numbers = entriesOf(id).map(({ seq }) => seq);
      expect([id, numbers]).toEqual([id, numbers.map((_, n) => n + 1)]);
    }
  });

  it("fired no timer early or twice, and overdue ones at once after it was opened again", () => {
    let overdue = 0;
    for (const { id, plan } of seen.started) {
      for (const [element, afterMs] of timersOf(plan)) {
        const armed = entriesOf(id).find(
          (it) => it.type === "element-entered" && it.element === armedBy(element),
        );
        const fired = entriesOf(id).filter(
          (it) => it.type === "timer-due" && it.element === element,
        );
        expect([id, element, fired.length]).toEqual([id, element, 1]);
        const due = (armed?.at ?? Number.NaN) + afterMs;
        const firedAt = fired[0]?.at ?? Number.NaN;
        expect(firedAt).toBeGreaterThanOrEqual(due);
        if (!seen.lives.some(({ from, to }) => from <= due && due < to)) overdue += 1;
        expect([id, element, upMsBetween(due, firedAt) <= PROMPT_MS]).toEqual([id, element, true]);
      }
    }
    expect(overdue).toBeGreaterThan(0);
  });

  const entriesOf = (id: string): readonly HistoryEntry[] => seen.histories.get(id) ?? [];
  const elementsOf = (id: string, wanted: string): string[] =>
    entriesOf(id).flatMap(({ type, element }) => (type === wanted ? [element ?? ""] : []));

  /** How long some process was running between two moments. */
  function upMsBetween(from: number, to: number): number {
    return seen.lives
      .map((life) => Math.min(to, life.to) - Math.max(from, life.from))
      .reduce((sum, ms) => sum + Math.max(0, ms), 0);
  }
});
