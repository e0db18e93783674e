import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { ONE_PROCESS } from "../../../lib/engine/world.ts";
import { sequence, service } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const UNKNOWN = { code: "engine/outcome-unknown", retryable: true };

describe("a call whose copy was sent, with durable queues", () => {
  test("reports an unknown outcome when its start cannot be stored, and a repeat returns the outcome", async () => {
    const { engine, drain, refuse, ran } = await aWorld();
    refuse(true);

    const refused = engine.start("p", { instanceId: "one" });

    await expect(refused).rejects.toMatchObject({
      ...UNKNOWN,
      publicText: expect.stringMatching(/instance one.*store\/disk-full.*same Idempotency-Key/),
    });
    refuse(false);
    await drain();
    expect(await engine.start("p", { instanceId: "one" })).toMatchObject({ instanceId: "one" });
    await drain();
    expect(ran()).toBe(1);
  });

  test("definitely refuses a start whose id another start has taken", async () => {
    const { engine, drain } = await aWorld();
    await engine.start("p", { instanceId: "one" });
    await drain();

    const other = engine.start("p", { instanceId: "one", variables: { a: 1 } });

    await expect(other).rejects.toMatchObject({ code: "instance/id-taken" });
  });

  test("reports it when a completion cannot be stored, and a repeat with its key returns the outcome", async () => {
    const { engine, drain, refuse, commits } = await aWorld(["other"]);
    const { instanceId } = await engine.start("p");
    await drain();
    const { items } = await engine.tasks({ instanceId }, { limit: 1 });
    const taskId = items[0]?.taskId ?? "";
    refuse(true);

    await expect(engine.completeTask(taskId, {}, "key")).rejects.toMatchObject(UNKNOWN);

    refuse(false);
    await drain();
    const before = commits.length;
    expect(await engine.completeTask(taskId, {}, "key")).toEqual({ completed: true });
    expect(commits).toHaveLength(before);
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });
});

test("a call in a process that owns its queues is definitely refused, and leaves nothing queued", async () => {
  const { engine, queued, refuse } = await aWorld(["work"], { host: ONE_PROCESS });
  refuse(true);

  await expect(engine.start("p", { instanceId: "one" })).rejects.toMatchObject({
    code: "store/disk-full",
  });

  expect(queued).toEqual([]);
});

/** The test decides whether commits are refused. */
async function aWorld(types: readonly string[] = ["work"], settings = {}) {
  let isFull = false;
  let ran = 0;
  const store = new SimulatedStore({
    turn: async (point) => (isFull && point === "commit:before" ? { fault: "full" } : undefined),
  });
  const count = () => {
    ran += 1;
    return {};
  };
  const tasks = Object.fromEntries(types.map((type) => [type, count]));
  const bus = { publish: async () => true, announce: async () => {} };
  const world = aPlainWorld({ store, tasks, settings, bus });
  await world.engine.deploy({ notation: "bpmn", source: sequence(service("work")) });
  const refuse = (isSo: boolean) => {
    isFull = isSo;
  };
  return { ...world, refuse, ran: () => ran };
}
