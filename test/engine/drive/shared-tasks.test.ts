import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { USER_TASK_TYPE } from "../../../lib/definition/user-task.ts";
import { type HostTraits, MANY_PROCESSES, ONE_PROCESS } from "../../../lib/engine/world.ts";
import { sequence, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const LOCK = { type: USER_TASK_TYPE, max: 5, lockSeconds: 60, worker: "w" };

/** An instance at a user task without the marker: users and workers may complete it. */
async function aWorld(host: HostTraits) {
  const world = aPlainWorld({ store: new SimulatedStore({}), settings: { host } });
  await world.engine.deploy({
    notation: "bpmn",
    source: sequence(xml("userTask", { id: "approve" })),
  });
  await world.engine.start("p", { instanceId: "one" });
  await world.drain();
  const { items } = await world.engine.tasks({}, { limit: 1 });
  return { ...world, taskId: items[0]?.taskId ?? "" };
}

describe.each([
  ["queues that last", MANY_PROCESSES],
  ["queues in memory", ONE_PROCESS],
])("a user task that is also a job, with %s,", (_, host) => {
  test("is given to no second worker because a user claims or unclaims it", async () => {
    const { engine, drain, taskId } = await aWorld(host);
    const { tasks } = await engine.activate(LOCK);

    await engine.claimTask(taskId, { user: "anna" });
    await drain();
    const afterClaim = await engine.activate(LOCK);
    await engine.unclaimTask(taskId, { user: "anna" });
    await drain();
    const afterUnclaim = await engine.activate(LOCK);

    expect(tasks.map((task) => task.taskId)).toEqual([taskId]);
    expect([...afterClaim.tasks, ...afterUnclaim.tasks]).toEqual([]);
  });

  test("is given to a worker although a user has claimed it: the ticket decides", async () => {
    const { engine, drain, taskId } = await aWorld(host);
    await engine.claimTask(taskId, { user: "anna" });
    await drain();

    const { tasks } = await engine.activate(LOCK);
    const [task] = tasks;
    await engine.completeTask(taskId, { lockToken: task?.lockToken ?? "", variables: { by: "w" } });
    const late = engine.completeTask(taskId, { user: "anna" });

    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
    expect((await engine.get("one")).variables).toEqual({ by: "w" });
  });

  test("can be completed by its user while a worker has it, which learns of it at its next heartbeat", async () => {
    const { engine, drain, taskId } = await aWorld(host);
    const { tasks } = await engine.activate(LOCK);
    const lockToken = tasks[0]?.lockToken ?? "";
    await engine.claimTask(taskId, { user: "anna" });
    await drain();

    const stranger = engine.completeTask(taskId, { user: "bert" });
    await expect(stranger).rejects.toMatchObject({ code: "task/claimed" });
    await engine.completeTask(taskId, { user: "anna", variables: { by: "anna" } });
    await drain();

    expect(await engine.heartbeat(taskId, { lockToken })).toEqual({ cancelled: true });
    const late = engine.completeTask(taskId, { lockToken });
    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
    expect((await engine.get("one")).variables).toEqual({ by: "anna" });
  });

  test("is offered to workers again when its lock expires, whoever has claimed it", async () => {
    const { engine, drain, moveTo, now, taskId } = await aWorld(host);
    const first = await engine.activate(LOCK);
    await engine.claimTask(taskId, { user: "anna" });
    await drain();
    moveTo(now() + 61_000);

    const second = await engine.activate(LOCK);
    const [a, b] = [first, second].map(({ tasks }) => tasks[0]?.lockToken ?? "");
    await engine.completeTask(taskId, { lockToken: b ?? "", variables: { by: "second" } });
    const late = engine.completeTask(taskId, { lockToken: a ?? "", variables: { by: "first" } });

    expect(second.tasks.map((task) => task.taskId)).toEqual([taskId]);
    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
    expect((await engine.get("one")).variables).toEqual({ by: "second" });
  });
});
