import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../../lib/embedded/index.ts";
import { encodePacked, type Packed, parseStored } from "../../../lib/engine/storage/codec.ts";
import { damageInstance, damageItem } from "../../support/damage.ts";
import { aDataDir } from "../../support/embedded.ts";
import { anEngineWith, journalOf, run } from "../../support/workflow-files.ts";

const BODY = `const one = await task("work", 1);
  await event("go");
  return [one, await task("work", 2)];`;
const tasks = { work: (n: number) => n * 10 };

/** Two instances that wait for "go"; then the stored form of the first is changed. */
async function tampered(change: (packed: Packed) => Packed) {
  const dataDir = aDataDir();
  const before = await anEngineWith(BODY, { dataDir, tasks });
  const [{ instanceId: bad }, { instanceId: good }] = [await run(before), await run(before)];
  const history = await journalOf(before, bad);
  await before.close({ graceMs: 0 });
  await damageItem(dataDir, `default#I#${bad}`, (body) =>
    encodePacked(change(parseStored(body).packed)),
  );
  const engine = await anEngineWith(BODY, { dataDir, tasks });
  return { engine, bad, good, history };
}

const withJournal =
  (change: (entries: readonly (readonly [number, number, never])[]) => unknown) =>
  (packed: Packed): Packed => {
    const [first, entries] = packed.j ?? [1, []];
    return { ...packed, j: [first, change(entries as never) as never] };
  };

async function goOn(engine: EmbeddedEngine, ...instanceIds: readonly string[]) {
  for (const target of instanceIds) await engine.event({ name: "go", target });
  await engine.idle();
}

describe("a workflow in code whose stored journal was tampered with", () => {
  test.each<[string, (packed: Packed) => Packed, RegExp]>([
    [
      "names another operation",
      withJournal(([entry]) => [[entry?.[0], entry?.[1], ["mail", 10]]]),
      /Entry 1 of the journal is the outcome of operation 1, mail; the workflow has work there/,
    ],
    [
      "has an outcome of an operation that there is not",
      withJournal(([entry]) => [[7, entry?.[1], entry?.[2]]]),
      /outcome of operation 7, work; the workflow has no such operation open there/,
    ],
    [
      "has another outcome",
      withJournal(([entry]) => [[entry?.[0], entry?.[1], ["work", 99]]]),
      /does not have the digest/,
    ],
    [
      "has another time",
      withJournal(([entry]) => [[entry?.[0], 5_000, entry?.[2]]]),
      /does not have the digest/,
    ],
    [
      "is no outcome",
      withJournal(([entry]) => [[entry?.[0], entry?.[1], 5]]),
      /Entry 1 .* damaged/,
    ],
  ])(
    "D18 R17 gets an incident when it %s, and nothing else happens to it",
    async (_, change, message) => {
      const { engine, bad, good, history } = await tampered(change);

      await goOn(engine, bad, good);

      const { status, incidents, result } = await engine.get(bad);
      expect({ status, result }).toEqual({ status: "suspended", result: undefined });
      expect(incidents).toMatchObject([
        { type: "NON_DETERMINISM", message: expect.stringMatching(message) },
      ]);
      expect((await journalOf(engine, bad)).slice(0, history.length)).toEqual(history);
      expect(await engine.get(good)).toMatchObject({ status: "succeeded", result: [10, 20] });
    },
  );

  test("D18 gets the same incident again when it is resolved, and can be cancelled", async () => {
    const { engine, bad } = await tampered(
      withJournal(([entry]) => [[entry?.[0], entry?.[1], ["mail", 10]]]),
    );
    await goOn(engine, bad);
    const [first] = (await engine.get(bad)).incidents;

    await engine.resolveIncident(bad, first?.incidentId ?? "", {});
    await engine.idle();
    const { incidents } = await engine.get(bad);

    expect(incidents).toMatchObject([{ type: "NON_DETERMINISM" }]);
    expect(await engine.cancel(bad)).toEqual({ cancelled: true });
  });

  test("D18 shows the line of what the program has instead, in the incident and in its wait", async () => {
    const { engine, bad } = await tampered(
      withJournal(([entry]) => [[entry?.[0], entry?.[1], ["mail", 10]]]),
    );

    await goOn(engine, bad);

    const at = { file: "w.ts", line: 3, column: 19 };
    const { incidents, waits } = await engine.get(bad);
    expect(incidents).toMatchObject([{ at }]);
    expect(waits).toMatchObject([{ kind: "event" }, { kind: "incident", at }]);
  });

  test("D18 shows the line of an operation that is open on one side only", async () => {
    const { engine, bad } = await tampered((packed) => {
      const state = packed.x as { o: readonly [number, ...unknown[]][] };
      const more = state.o.flatMap((open) => [open, [9, ...open.slice(1)]]);
      return { ...packed, x: { ...state, o: more } as Packed["x"] };
    });

    await goOn(engine, bad);

    expect((await engine.get(bad)).incidents).toMatchObject([
      { message: expect.stringMatching(/operations 2, 9 open/), at: { file: "w.ts", line: 4 } },
    ]);
  });

  test("D18 lists the incident with what was expected and found", async () => {
    const { engine, bad } = await tampered(
      withJournal(([entry]) => [[entry?.[0], entry?.[1], ["mail", 10]]]),
    );

    await goOn(engine, bad);

    expect((await engine.incidents()).items).toMatchObject([
      { instanceId: bad, type: "NON_DETERMINISM", message: expect.stringMatching(/mail.*work/) },
    ]);
  });
});

describe("a workflow in code whose stored state is unreadable", () => {
  test("R17 is reported as corrupt, and the others go on", async () => {
    const dataDir = aDataDir();
    const before = await anEngineWith(BODY, { dataDir, tasks });
    const [{ instanceId: bad }, { instanceId: good }] = [await run(before), await run(before)];
    await before.close({ graceMs: 0 });
    await damageInstance(dataDir, bad);
    const engine = await anEngineWith(BODY, { dataDir, tasks });

    const sent = engine.event({ name: "go", target: bad });

    await expect(sent).rejects.toMatchObject({ code: "store/corrupt" });
    await goOn(engine, good);
    expect((await engine.get(good)).result).toEqual([10, 20]);
    expect((await run(engine)).status).toBe("suspended");
  });

  test.each<[string, (packed: Packed) => Packed]>([
    ["is of another shape", (packed) => ({ ...packed, x: { o: "none" } })],
    ["is null", (packed) => ({ ...packed, x: null })],
    [
      "lacks an operation",
      (packed) => ({ ...packed, x: { ...(packed.x as object), o: [] } as never }),
    ],
  ])("R17 gets an incident when its state %s", async (_, change) => {
    const { engine, bad, good } = await tampered(change);

    await goOn(engine, bad, good);

    expect((await engine.get(bad)).incidents).toMatchObject([{ type: "NON_DETERMINISM" }]);
    expect((await engine.get(good)).result).toEqual([10, 20]);
  });
});
