import { describe, expect, onTestFinished, test } from "vitest";
import type { TaskView } from "../../lib/client/index.ts";
import { boundary, end, flow, timer, xml } from "../support/bpmn-xml.ts";
import {
  chain,
  client,
  countOf,
  ended,
  eventually,
  fresh,
  historyOf,
  needs,
  task,
} from "../support/deployed.ts";
import { ownQueueArn, purge, receiveTask, shut } from "../support/own-queue.ts";

const cards = ownQueueArn("cards");

/** A process of one task, of a type of its own that goes to the queue. */
async function aType(queueArn: string | undefined, ...beside: readonly string[]) {
  const id = fresh("queued");
  const source = chain(id, [task("charge", id)], ...beside.slice(1));
  await client.deploy(source.replace("</process>", `${beside[0] ?? ""}</process>`));
  if (queueArn !== undefined) await client.setTaskType(id, { queueArn });
  return id;
}

const notFound = { status: 404, code: "task/not-found" };

describe("a task for a user's own queue", () => {
  test("F67 arrives complete, is completed over HTTP without a lock, and ends the instance", async () => {
    const type = await aType(cards);
    const variables = { total: 42, note: "é 🙂 \uFFFF" };

    const { instanceId } = await client.start(type, { variables });
    const { task, raw, remove } = await receiveTask(cards, type);
    const offered = await client.tasks({ type });
    await client.completeTask(task.taskId, { variables: { receiptId: "r-1" } });
    await remove();

    expect(JSON.parse(raw)).toEqual({
      taskId: `${instanceId}.${task.taskId.slice(instanceId.length + 1)}`,
      type,
      instanceId,
      element: "charge",
      definition: { id: type, version: 1 },
      variables,
      headers: {},
      attempt: 1,
      retries: 3,
      idempotencyKey: task.idempotencyKey,
    });
    expect(offered.items).toEqual([]);
    expect(await ended(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { ...variables, receiptId: "r-1" },
    });
    await expect(client.completeTask(task.taskId)).rejects.toMatchObject(notFound);
  });

  test("F67 is sent again after a failure, and throws a business error to its boundary event", async () => {
    const caught = [
      boundary("declined", "charge", xml("errorEventDefinition", { errorRef: "no-money" })),
      end("unpaid"),
      flow("declined-to-unpaid", "declined", "unpaid"),
    ].join("\n");
    const error = xml("error", { id: "no-money", errorCode: "NO_MONEY" });
    const type = await aType(cards, caught, error);

    const { instanceId } = await client.start(type);
    const first = await receiveTask(cards, type);
    await client.failTask(first.task.taskId, { message: "no line", retryAfter: "PT2S" });
    await first.remove();
    const second = await receiveTask(cards, type);
    await client.failTask(second.task.taskId, { message: "declined", code: "NO_MONEY" });
    await second.remove();

    expect([first, second].map(({ task: { attempt, retries } }) => [attempt, retries])).toEqual([
      [1, 3],
      [2, 2],
    ]);
    expect(second.task.idempotencyKey).toBe(first.task.idempotencyKey);
    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    expect((await historyOf(instanceId)).map(({ type }) => type)).toContain("error-caught");
  });

  test("is harmless after it was interrupted", async () => {
    const late = [
      boundary("late", "charge", timer("timeDuration", "PT1S")),
      end("unpaid"),
      flow("late-to-unpaid", "late", "unpaid"),
    ].join("\n");
    const type = await aType(cards, late);

    const { instanceId } = await client.start(type);
    const { task, remove } = await receiveTask(cards, type);
    const before = await ended(instanceId);
    const completing = client.completeTask(task.taskId, { variables: { receiptId: "r-1" } });

    await expect(completing).rejects.toMatchObject(notFound);
    await remove();
    expect(await client.result(instanceId)).toEqual(before);
    expect(await countOf(instanceId, "task-completed")).toBe(0);
  });

  test("D19 is sent again by a full recovery when the queue has lost it", async () => {
    const type = await aType(cards);
    const { instanceId } = await client.start(type);
    const lost = await receiveTask(cards, type);
    await lost.remove();
    await purge(cards);

    let resent = 0;
    for (let cursor: string | undefined; ; ) {
      const report = await client.recoverAll({ limit: 50, ...(cursor && { cursor }) });
      expect(report.failed).toBe(0);
      resent += report.resent;
      cursor = report.nextCursor;
      if (cursor === undefined) break;
    }
    const again = await receiveTask(cards, type);
    await client.completeTask(again.task.taskId);
    await again.remove();

    expect(resent).toBeGreaterThanOrEqual(1);
    expect(again.raw).toBe(lost.raw);
    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
  });

  test("is polled for again once the queue is removed from its type", async () => {
    const type = await aType(cards);
    const { instanceId: before } = await client.start(type);
    const queued = await receiveTask(cards, type);

    await client.setTaskType(type, { queueArn: null });
    // For some seconds functions use cached settings: tasks that they open then are queued.
    const polled = await eventually("a task that is polled for", async () => {
      await client.start(type);
      const poll = { type, max: 10, lockSeconds: 60, worker: "e2e", waitSeconds: 1 };
      return (await client.activate(poll)).tasks[0];
    });
    await client.completeTask(polled.taskId, { lockToken: polled.lockToken });
    await client.completeTask(queued.task.taskId);
    await queued.remove();

    expect(await client.taskType(type)).toMatchObject({ queueArn: null });
    expect(await ended(polled.instanceId)).toMatchObject({ status: "succeeded" });
    expect(await ended(before)).toMatchObject({ status: "succeeded" });
  });
});

describe("a user's own queue", () => {
  test.each([
    ["was not told of", `${cards}-other`, 403, "task-type/queue-not-allowed"],
    ["cannot find", ownQueueArn("gone"), 409, "task-type/queue-unusable"],
  ])("that the installation %s is refused at once", async (_, queueArn, status, code) => {
    const type = await aType(cards);

    const setting = client.setTaskType(type, { queueArn });

    await expect(setting).rejects.toMatchObject({
      status,
      code,
      message: expect.stringContaining(queueArn),
    });
    expect(await client.taskType(type)).toMatchObject({ queueArn: cards });
  });

  test("that refuses leaves its tasks to polling, and gets them once when it accepts them", async (context) => {
    needs("iam", context);
    const queue = ownQueueArn("shut");
    await shut(queue, true);
    onTestFinished(() => shut(queue, false));
    const type = await aType(queue);

    const { instanceId } = await client.start(type);
    const offered = await eventually(
      "the task in the list",
      async (): Promise<TaskView | undefined> => (await client.tasks({ type })).items[0],
    );
    await shut(queue, false);
    const { task, remove } = await receiveTask(queue, type);
    await remove();
    const left = await eventually("the row to go", async () => {
      const { items } = await client.tasks({ type });
      return items.length === 0;
    });
    await client.completeTask(task.taskId);

    expect(left).toBe(true);
    expect(task.taskId).toBe(offered.taskId);
    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
  });
});
