import { describe, expect, test } from "vitest";
import { boundary, end, extensions, flow, job, sequence, timer, xml } from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

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
    expect(after.recovered).toMatchObject({
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

    expect(engine.recovered).toEqual({
      resumed: 0,
      rearmed: 0,
      timersFired: 0,
      resent: 0,
      mailboxesPoked: 0,
      broadcastsResumed: 0,
      skipped: 0,
    });
  });
});

describe("announcements", () => {
  test("tell of incidents and ends at least once, and are tried again when they fail", async () => {
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
