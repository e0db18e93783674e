import { describe, expect, test } from "vitest";
import {
  boundary,
  end,
  extensions,
  file,
  flow,
  job,
  process,
  sequence,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";
import { NOTHING_RECOVERED } from "../support/nothing-recovered.ts";

const guarded = sequence(
  xml("serviceTask", { id: "work" }, extensions(job("work"))),
  boundary("deadline", "work", timer("timeDuration", "PT1H")),
  end("late"),
  flow("f9", "deadline", "late"),
);
const forever = () => new Promise(() => {});

describe("recovery", () => {
  test("S3 reports what it resumed and rearmed, and what needed nothing", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source: guarded, tasks: { work: forever } });
    for (const n of [1, 2, 3]) await before.start("p", { instanceId: `i${n}` });
    const whileRunning = await before.recover();
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir, tasks: { work: () => ({ done: true }) } });

    expect(whileRunning).toMatchObject({ resumed: 0, resent: 0 });
    expect(await after.recovered).toMatchObject({
      resumed: 3,
      resent: 3,
      rearmed: 3,
      timersFired: 0,
      skipped: 0,
    });
    for (const n of [1, 2, 3]) {
      expect((await after.result(`i${n}`)).variables).toEqual({ done: true });
    }
    expect(await after.recover()).toMatchObject({ resumed: 0, rearmed: 0, resent: 0, skipped: 0 });
  });

  test("S3 F19 fires the timers that came due meanwhile, beside their running hosts", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({
      dataDir,
      clock: "real",
      source: guarded.replace("PT1H", "PT0.05S"),
      tasks: { work: forever },
    });
    const { instanceId } = await before.start("p");
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir, clock: "real", tasks: { work: forever } });

    expect(await after.result(instanceId, { timeoutMs: 5_000 })).toMatchObject({
      status: "succeeded",
    });
    expect((await after.get(instanceId)).completedElements).toContain("late");
  });

  test("S3 counts nothing on an empty folder", async () => {
    const engine = await anEngine();

    expect(await engine.recovered).toEqual(NOTHING_RECOVERED);
  });
});

describe("a restart with other handlers", () => {
  const waiting = guarded.replace("PT1H", "PT10M");

  test("still fires the boundary timer of a task whose handler is gone", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source: waiting, tasks: { work: forever } });
    const { instanceId } = await before.start("p");
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir });
    const { fired } = await after.advanceClock("PT10M");

    expect(fired).toBe(1);
    expect((await after.get(instanceId)).completedElements).toContain("late");
  });

  test("still fires the boundary timer of a task that it adopts", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source: waiting });
    const { instanceId } = await before.start("p");
    await before.close();
    const failing = { backoff: "PT1H", run: () => Promise.reject(new Error("no")) };

    const after = await anEngine({ dataDir, tasks: { work: failing } });
    await after.idle();
    const { fired } = await after.advanceClock("PT20M");

    expect(await after.recovered).toMatchObject({ resumed: 1, rearmed: 1 });
    expect(fired).toBe(1);
    expect((await after.get(instanceId)).completedElements).toContain("late");
  });
});

describe("an instance with many offered tasks", () => {
  const many = Array.from({ length: 120 }, (_, n) => `t${n}`);
  const crowd = file(
    process(
      start(),
      xml(
        "subProcess",
        { id: "crowd" },
        start("inner"),
        ...many.map((id) => xml("serviceTask", { id }, extensions(job("outside")))),
        ...many.map((id) => flow(`to-${id}`, "inner", id)),
      ),
      boundary("deadline", "crowd", timer("timeDuration", "PT10M")),
      xml("serviceTask", { id: "after" }, extensions(job("after"))),
      end(),
      flow("f1", "start", "crowd"),
      flow("f2", "deadline", "after"),
      flow("f3", "after", "end"),
    ),
  );

  test("lists every one of them, and continues when all are interrupted at once", async () => {
    const engine = await anEngine({ source: crowd, tasks: { after: () => ({ done: true }) } });
    const { instanceId } = await engine.start("p");
    const listed = await engine.tasks({ type: "outside", limit: 200 });

    await engine.advanceClock("PT10M");

    expect(listed.items).toHaveLength(120);
    expect((await engine.result(instanceId)).variables).toEqual({ done: true });
    expect((await engine.tasks({ type: "outside" })).items).toEqual([]);
  });
});

describe("announcements", () => {
  test("report incidents and ends at least once, and are retried when they fail", async () => {
    const heard: string[] = [];
    let isDeaf = true;
    const engine = await anEngine({
      clock: "real",
      source: sequence(
        xml("serviceTask", { id: "work" }, extensions(job("work", { retries: "1" }))),
      ),
      tasks: {
        work: () => {
          throw new Error("no");
        },
      },
      onAnnouncement: ({ id, notice }) => {
        if (isDeaf) {
          isDeaf = false;
          throw new Error("nobody home");
        }
        heard.push(`${id.split(":")[1]} ${notice.type}`);
      },
    });
    const { instanceId } = await engine.start("p");
    await engine.idle();

    await engine.cancel(instanceId);
    await engine.idle();

    expect(heard).toEqual([
      expect.stringMatching(/^e\d+\.\d+ incident-raised$/),
      expect.stringMatching(/^e\d+\.\d+ instance-ended$/),
    ]);
  });
});
