import { describe, expect, test } from "vitest";
import { boundary, end, extensions, flow, job, sequence, timer, xml } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const charge = xml(
  "serviceTask",
  { id: "charge" },
  extensions(job("charge-card", { retries: "3" })),
);
const source = sequence(charge);

const poll = { type: "charge-card", max: 10, lockSeconds: 30, worker: "anna" } as const;

async function aWaitingTask(more: Parameters<typeof anEngine>[0] = { source }) {
  const engine = await anEngine(more);
  const { instanceId } = await engine.start("p", { variables: { total: 42 } });
  await engine.idle();
  return { engine, instanceId };
}

const only = <T>([first, ...others]: readonly T[]): T => {
  if (first === undefined || others.length > 0) throw new Error("there is not exactly one");
  return first;
};

describe("a worker", () => {
  test("F67 gets the task as it is, under a lock, and completes it", async () => {
    const { engine, instanceId } = await aWaitingTask();

    const task = only((await engine.activate(poll)).tasks);
    await engine.complete(task.taskId, { lockToken: task.lockToken, variables: { paid: true } });

    expect(task).toMatchObject({
      taskId: `${instanceId}.k1.1`,
      type: "charge-card",
      instanceId,
      element: "charge",
      variables: { total: 42 },
      headers: {},
      attempt: 1,
      retries: 3,
      idempotencyKey: `${instanceId}:k1.1`,
    });
    expect(await engine.result(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { total: 42, paid: true },
    });
    expect((await engine.activate(poll)).tasks).toEqual([]);
    expect((await engine.tasks()).items).toEqual([]);
  });

  test("holds its task until the lock expires, and then another gets it", async () => {
    const { engine, instanceId } = await aWaitingTask();
    const first = only((await engine.activate(poll)).tasks);

    await engine.advanceClock("PT30S");
    const early = await engine.activate({ ...poll, worker: "bert" });
    await engine.advanceClock("PT1S");
    const late = only((await engine.activate({ ...poll, worker: "bert" })).tasks);

    expect(early.tasks).toEqual([]);
    expect(late).toMatchObject({ taskId: first.taskId, attempt: 1, retries: 3 });
    expect(late.lockToken).not.toBe(first.lockToken);
    await expect(
      engine.complete(first.taskId, { lockToken: first.lockToken }),
    ).rejects.toMatchObject({ code: "task/lock-lost" });
    await engine.complete(late.taskId, { lockToken: late.lockToken });
    expect((await engine.result(instanceId)).status).toBe("succeeded");
  });

  test("whose lock has expired can complete the task as long as no other has locked it", async () => {
    const { engine, instanceId } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);
    await engine.advanceClock("PT1H");

    await engine.complete(taskId, { lockToken });

    expect((await engine.result(instanceId)).status).toBe("succeeded");
  });

  test("that sends heartbeats keeps its task, with the newest lock token", async () => {
    const { engine } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);
    await engine.advanceClock("PT20S");

    const kept = await engine.heartbeat(taskId, { lockToken, lockSeconds: 60 });
    await engine.advanceClock("PT50S");

    expect(kept).toEqual({ lockToken: expect.any(String), lockedUntil: expect.any(String) });
    expect((await engine.activate(poll)).tasks).toEqual([]);
    await expect(engine.heartbeat(taskId, { lockToken })).rejects.toMatchObject({
      code: "task/lock-lost",
    });
    await engine.complete(taskId, "lockToken" in kept ? { lockToken: kept.lockToken } : {});
  });

  test("learns from its next heartbeat that its task was interrupted", async () => {
    const late = boundary("late", "charge", timer("timeDuration", "PT10S"));
    const interrupted = sequence(charge, [late, end("e2"), flow("f9", "late", "e2")].join(""));
    const { engine, instanceId } = await aWaitingTask({ source: interrupted });
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);

    await engine.advanceClock("PT10S");

    expect(await engine.heartbeat(taskId, { lockToken })).toEqual({ cancelled: true });
    await expect(engine.complete(taskId, { lockToken })).rejects.toMatchObject({
      code: "task/not-found",
    });
    expect((await engine.result(instanceId)).status).toBe("succeeded");
  });

  test("that fails a task uses up a retry, and the next attempt is not offered early", async () => {
    const { engine } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);

    await engine.fail(taskId, { lockToken, message: "no answer", retryAfter: "PT5M" });
    const atOnce = await engine.activate(poll);
    const listed = await engine.tasks({ type: "charge-card" });
    await engine.advanceClock("PT5M");
    const again = only((await engine.activate(poll)).tasks);

    expect(atOnce.tasks).toEqual([]);
    expect(listed.items).toMatchObject([{ taskId, attempt: 2 }]);
    expect(again).toMatchObject({ taskId, attempt: 2, retries: 2 });
  });

  test("whose attempt another caller has failed has lost its lock", async () => {
    const { engine } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);

    await engine.fail(taskId, { message: "by hand" });
    const next = only((await engine.activate(poll)).tasks);

    expect(next.attempt).toBe(2);
    await expect(engine.heartbeat(taskId, { lockToken })).rejects.toMatchObject({
      code: "task/lock-lost",
    });
  });

  test("whose attempt another caller has failed cannot fail the next one", async () => {
    const { engine, instanceId } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);
    await engine.fail(taskId, { message: "by hand" });

    const late = engine.fail(taskId, { lockToken, message: "no answer" });

    await expect(late).rejects.toMatchObject({ code: "task/lock-lost" });
    expect((await engine.tasks({ instanceId })).items).toMatchObject([{ attempt: 2, retries: 2 }]);
  });

  test("whose attempt another caller has failed can still complete the task", async () => {
    const { engine, instanceId } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);
    await engine.fail(taskId, { message: "by hand" });

    await engine.complete(taskId, { lockToken });

    expect((await engine.result(instanceId)).status).toBe("succeeded");
  });

  test("that repeats a call under its key gets the same response, although the row is gone", async () => {
    const { engine } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);
    const failure = { lockToken, message: "no answer" };

    await engine.fail(taskId, failure, "key");

    expect(await engine.fail(taskId, failure, "key")).toEqual({ failed: true });
    expect(only((await engine.activate(poll)).tasks).attempt).toBe(2);
  });

  test.each(["x", "0.1.a", "0.1.a.other", "99.99999999999999.a.%E0%A4%A"])(
    "with the token %j has no lock",
    async (lockToken) => {
      const { engine, instanceId } = await aWaitingTask();

      await expect(engine.complete(`${instanceId}.k1.1`, { lockToken })).rejects.toMatchObject({
        code: "task/lock-lost",
      });
    },
  );

  test("that waits is woken by the task, without polling", async () => {
    const engine = await anEngine({ source });
    const waiting = engine.activate({ ...poll, waitSeconds: 25 });
    for (let n = 0; n < 20; n++) await engine.start("p", { instanceId: "one" });

    const { tasks } = await waiting;
    const before = engine.counters().reads;
    const idle = engine.activate({ ...poll, waitSeconds: 25 });
    for (let n = 0; n < 100; n++) await new Promise((resolve) => setImmediate(resolve));
    const reads = engine.counters().reads - before;
    await engine.close();

    expect(tasks).toHaveLength(1);
    expect(await idle).toEqual({ tasks: [] });
    expect(reads).toBeLessThan(5);
  });

  test("that waits is woken when the clock reaches the next attempt", async () => {
    const { engine } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);
    await engine.fail(taskId, { lockToken, message: "no", retryAfter: "PT1H" });
    const waiting = engine.activate({ ...poll, waitSeconds: 25 });

    await engine.advanceClock("PT1H");

    expect((await waiting).tasks).toMatchObject([{ taskId, attempt: 2 }]);
  });

  test("that waits gets a response when the engine closes", async () => {
    const engine = await anEngine({ source });
    const waiting = engine.activate({ ...poll, waitSeconds: 25 });
    // Begun later, it has done what the first one does before it waits, and the next-timer read too.
    for (let polls = 0; polls < 2; polls++) await engine.activate(poll);

    await engine.close();

    expect(await waiting).toEqual({ tasks: [] });
  });

  test("gets at most as many tasks as it requests, the oldest first", async () => {
    const engine = await anEngine({ source });
    for (const id of ["one", "two", "three"]) {
      await engine.start("p", { instanceId: id });
      await engine.advanceClock("PT1S");
    }

    const { tasks } = await engine.activate({ ...poll, max: 2 });

    expect(tasks.map(({ instanceId }) => instanceId)).toEqual(["one", "two"]);
  });

  test.each([
    ["max", { max: 0 }],
    ["max", { max: 101 }],
    ["lockSeconds", { lockSeconds: 0 }],
    ["lockSeconds", { lockSeconds: 43_201 }],
    ["waitSeconds", { waitSeconds: 26 }],
    ["worker", { worker: "" }],
    ["type", { type: "" }],
  ])("is refused when %s is out of range: %j", async (path, wrong) => {
    const engine = await anEngine({ source });

    await expect(engine.activate({ ...poll, ...wrong })).rejects.toMatchObject({
      code: "request/invalid",
      details: [expect.objectContaining({ path })],
    });
  });
});

describe("a task type", () => {
  test("has no queue on an engine that has none", async () => {
    const engine = await anEngine({ source });

    expect(await engine.taskType("charge-card")).toEqual({
      type: "charge-card",
      queueArn: null,
      shards: 1,
    });
    await expect(
      engine.setTaskType("charge-card", { queueArn: "arn:aws:sqs:eu-west-1:1:q" }),
    ).rejects.toMatchObject({ code: "task-type/no-queues" });
  });
});

describe("a task without a handler", () => {
  test("F67 waits and is completed by its id, although a worker has locked it", async () => {
    const { engine, instanceId } = await aWaitingTask();
    const { taskId, lockToken } = only((await engine.activate(poll)).tasks);

    await engine.complete(taskId, { variables: { by: "operator" } });

    expect(await engine.heartbeat(taskId, { lockToken })).toEqual({ cancelled: true });
    expect((await engine.result(instanceId)).variables).toMatchObject({ by: "operator" });
  });
});
