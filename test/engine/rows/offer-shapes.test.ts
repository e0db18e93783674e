import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { assignment, person, sequence, service } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const poll = { type: "work", max: 10, lockSeconds: 30, worker: "w" };
const PAGE = { limit: 10 };

/** A task for workers and one for a user; `bodies` are the contents of their rows, by partition. */
async function aWorld() {
  const store = new SimulatedStore({});
  const world = aPlainWorld({ store });
  const { engine, drain } = world;
  await engine.deploy({ notation: "bpmn", source: sequence(service("work")) });
  await engine.start("p", { instanceId: "outside" });
  await drain();
  const forAnna = sequence(person("approve", assignment({ candidateUsers: "anna" })));
  await engine.deploy({ notation: "bpmn", source: forAnna });
  await engine.start("p", { instanceId: "listed" });
  await drain();
  const rows = () => store.items().filter(({ key: { pk, sk } }) => /#[JU]#/.test(pk) && sk !== "H");
  const bodies = () => rows().map(({ body }) => JSON.parse(new TextDecoder().decode(body)));
  const rewrite = async (shape: (stored: object, row: Item) => object) => {
    for (const row of rows()) {
      const stored = JSON.parse(new TextDecoder().decode(row.body));
      const body = new TextEncoder().encode(JSON.stringify(shape(stored, row)));
      const put = { ...row, body, version: row.version + 1 };
      await store.commit([{ put, when: { version: row.version } }]);
      await store.commit([{ put: { ...row, body }, when: { version: put.version } }]);
    }
  };
  return { ...world, bodies, rewrite };
}

describe("the row of a task", () => {
  test("is written in one format, for workers and for users", async () => {
    const { engine, bodies } = await aWorld();
    const open = bodies();

    await engine.activate(poll);

    const [outside, listed] = ["outside", "listed"].map((i) => ({ i, k: "k1.1", r: 1 }));
    expect(open).toEqual([outside, listed, listed]);
    expect(bodies()).toEqual([{ ...outside, w: "w" }, listed, listed]);
  });

  test("is read without the version that older engines did not write", async () => {
    const { engine, rewrite, bodies } = await aWorld();
    await rewrite((stored) => ({ ...stored, r: undefined }));
    const old = bodies();

    const ofAnna = await engine.tasks({ candidateUser: "anna" }, PAGE);
    const { tasks } = await engine.activate(poll);

    expect(old).toContainEqual({ i: "outside", k: "k1.1" });
    expect(ofAnna.items.map(({ instanceId }) => instanceId)).toEqual(["listed"]);
    expect(tasks.map(({ instanceId }) => instanceId)).toEqual(["outside"]);
    expect(bodies()).toContainEqual({ i: "outside", k: "k1.1", w: "w" });
  });

  test("that is locked is read without it too: its worker keeps the task and completes it", async () => {
    const { engine, rewrite, now, moveTo } = await aWorld();
    const { tasks } = await engine.activate(poll);
    await rewrite((stored) => ({ ...stored, r: undefined }));
    const { taskId = "", lockToken = "" } = tasks[0] ?? {};

    moveTo(now() + 1_000);
    const kept = await engine.heartbeat(taskId, { lockToken });

    const token = "lockToken" in kept ? kept.lockToken : "";
    const done = engine.completeTask(taskId, { lockToken: token });
    await expect(done).resolves.toEqual({ completed: true });
  });
});
