import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import {
  aMessage,
  beside,
  boundary,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  loop,
  onMessage,
  person,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { calling, line, working } from "../support/call-xml.ts";
import { damageInstance } from "../support/damage.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";
import { NOTHING_RECOVERED } from "../support/nothing-recovered.ts";

const late = [
  boundary("late", "work", timer("timeDuration", "PT1H")),
  end("over"),
  flow("f9", "late", "over"),
];
const items = loop({ inputCollection: "=items", inputElement: "item" });
const processes = [
  line("done", [working("quick")]),
  line("guarded", [working("work")], ...late),
  line("pause", [catching("wait", timer("timeDuration", "PT1H"))]),
  line("mail", [catching("wait", onMessage("m"))]),
  line("outside", [working("elsewhere")]),
  line("somebody", [person("approve")]),
  line("family", [xml("serviceTask", { id: "each" }, extensions(job("work")), items)]),
  line("caller", [calling("call", "outside")]),
].map((one) => beside(file(one), aMessage("m", { key: '="k"' })));

const forever = () => new Promise(() => {});
const tasks = { quick: () => ({}), work: forever };

/** Everything that can be left behind when a process ends, each once. */
async function leaveAll(engine: EmbeddedEngine): Promise<void> {
  for (const source of processes) await engine.deploy(source);
  for (const id of ["done", "guarded", "pause", "mail", "outside", "somebody", "caller"]) {
    await engine.start(id, { instanceId: id });
  }
  await engine.start("family", { instanceId: "family", variables: { items: [1, 2, 3] } });
  await engine.result("done");
}

describe("the report of an engine that opens a data folder", () => {
  test("S3 R16 counts what each instance that owes something needed, and reads no other", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, tasks });
    await leaveAll(before);
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir, tasks });

    expect(await after.recovered).toEqual({
      ...NOTHING_RECOVERED,
      // The guarded task and three items; the call's child waits for a worker.
      resumed: 2,
      resent: 4,
      // The one beside the guarded task: the other is found through the due index itself.
      rearmed: 1,
      skipped: 1,
    });
    expect(await after.recover()).toEqual({ ...NOTHING_RECOVERED, rearmed: 1, skipped: 2 });
  });

  test("S3 counts a timer that came due while no process was running", async () => {
    const dataDir = aDataDir();
    // Its clock stands still; the next one has moved on.
    const before = await anEngine({ dataDir, clock: "virtual" });
    const source = file(line("pause", [catching("wait", timer("timeDuration", "PT0.001S"))]));
    await before.deploy(source);
    await before.start("pause", { instanceId: "pause" });
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir, clock: "real" });

    expect(await after.recovered).toEqual({ ...NOTHING_RECOVERED, timersFired: 1 });
    expect((await after.result("pause", { timeoutMs: 5_000 })).status).toBe("succeeded");
    expect(await after.recover()).toEqual(NOTHING_RECOVERED);
  });

  test("S3 R17 counts unreadable items separately, names them, and resumes the others", async () => {
    const dataDir = aDataDir();
    const told: string[] = [];
    const before = await anEngine({ dataDir, tasks });
    await leaveAll(before);
    await before.close({ graceMs: 0 });
    await damageInstance(dataDir, "guarded");

    const after = await anEngine({ dataDir, tasks, onTrouble: (text) => told.push(text) });

    expect(await after.recovered).toEqual({
      ...NOTHING_RECOVERED,
      resumed: 1,
      resent: 3,
      skipped: 1,
      unreadable: 1,
      troubles: [
        {
          key: { pk: "default#I#guarded", sk: "S" },
          instanceId: "guarded",
          code: "store/corrupt",
          message: expect.stringContaining("a stored instance"),
        },
      ],
    });
    expect(told).toEqual([expect.stringContaining("instance guarded was not recovered")]);
  });
});
