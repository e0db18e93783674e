// Kills an engine with hundreds of live workflows in code, and compares at the end what it promised
// (acknowledged starts and events), what steps did (the ledger), what the journals say and what the
// workflows returned. The long form: FERMATA_LONG=1.
import { beforeAll, describe, expect, it } from "vitest";
import { killCodeAndSee, type SeenCode } from "../support/killed-code-run.ts";
import { isBetween } from "../support/killed-run.ts";

const KILLS = process.env.FERMATA_LONG === "1" ? 200 : 20;
const MIN_LIVE = 500;
const NAMES = ["a", "b", "c", "d", "e", "f"];

type Returned = Readonly<{ done: string[]; go: string | null; ids: string[]; times: number[] }>;

describe(`D2: workflows in code in an engine that is killed ${KILLS} times`, () => {
  let seen: SeenCode;
  beforeAll(async () => {
    seen = await killCodeAndSee(KILLS);
  }, KILLS * 60_000);

  const returned = (id: string) => seen.results.get(id)?.result as Returned;

  it(`had at least ${MIN_LIVE} live workflows at every kill`, () => {
    expect(Math.min(...seen.kills.map(({ live }) => live))).toBeGreaterThanOrEqual(MIN_LIVE);
  });

  it("was killed between commit and dispatch in about one of ten kills", () => {
    const hits = seen.kills.filter(isBetween).length;
    expect(hits).toBeGreaterThanOrEqual(KILLS === 20 ? 1 : KILLS / 10);
  });

  it("has ended every acknowledged start, once", () => {
    for (const id of seen.started) {
      expect([id, seen.results.get(id)?.status]).toEqual([id, "succeeded"]);
      const types = (seen.histories.get(id) ?? []).map(({ type }) => type);
      expect([id, types.filter((type) => type === "instance-ended").length]).toEqual([id, 1]);
    }
  });

  it("D1: took each step once, by a run that is in the ledger, under the key of its ticket", () => {
    const runs = new Set(seen.ledger.map(({ key, element }) => `${element} ${key}`));
    for (const id of seen.started) {
      const { done } = returned(id);
      expect([id, done.map((it) => it.split(" ")[0])]).toEqual([id, NAMES]);
      for (const it of done) expect([id, it, runs.has(it)]).toEqual([id, it, true]);
      const completed = (seen.histories.get(id) ?? []).filter(
        ({ type }) => type === "task-completed",
      );
      expect([id, completed.length]).toEqual([id, NAMES.length]);
    }
  });

  it("R14: ran no step twice in one process", () => {
    const runs = seen.ledger.map((run) => JSON.stringify(run));
    expect(runs.length - new Set(runs).size).toBe(0);
  });

  it("has journals that say what the workflows returned", () => {
    for (const id of seen.started) {
      const outcomes = (seen.journals.get(id) ?? []).map(([, , outcome]) => outcome as unknown[]);
      const values = outcomes.map(([, value]) => value);
      expect([id, returned(id).done.filter((it) => !values.includes(it))]).toEqual([id, []]);
      expect([id, outcomes.length]).toEqual([id, NAMES.length + 1]);
    }
  });

  it("D6: gave every event to its workflow at most once, and told apart who was too late", () => {
    for (const id of seen.started) {
      const taken = (seen.histories.get(id) ?? []).filter(({ type }) => type === "event-received");
      const { go } = returned(id);
      expect([id, taken.length, go]).toEqual([
        id,
        go === null ? 0 : 1,
        go === null ? null : `to ${id}`,
      ]);
      if (go !== null) expect(seen.told.has(id)).toBe(true);
    }
    const reached = seen.started.filter((id) => returned(id).go !== null);
    expect(reached.length).toBeGreaterThan(0);
  });

  it("drew every random id once, however often a workflow was replayed", () => {
    const ids = seen.started.flatMap((id) => returned(id).ids);
    expect(new Set(ids).size).toBe(seen.started.length * 2);
  });
});
