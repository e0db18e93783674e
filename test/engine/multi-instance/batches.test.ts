import { describe, expect, test } from "vitest";
import { feelLanguage } from "../../../lib/adapters/feelin/feel-expressions.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { type ExpressionLanguage, FEEL } from "../../../lib/definition/expression.ts";
import { type Variables, variablesIn } from "../../../lib/definition/json.ts";
import { MAX_WORK_PER_COMMIT } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { instanceKey } from "../../../lib/engine/storage/keys.ts";
import { MANY_PROCESSES, ONE_PROCESS } from "../../../lib/engine/world.ts";
import type { Invocation, Message, ParkedMessage } from "../../../lib/ports/message.ts";
import type { TaskHandler, TaskOutcome } from "../../../lib/ports/tasks.ts";
import {
  boundary,
  end,
  extensions,
  flow,
  job,
  loop,
  sequence,
  timer,
  xml,
} from "../../support/bpmn-xml.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const several = (count: number) => Array.from({ length: count }, (_, n) => n);

const marker = loop({
  inputCollection: "=items",
  inputElement: "item",
  outputCollection: "results",
  outputElement: "=result",
});
const source = sequence(
  xml("serviceTask", { id: "each" }, extensions(job("each")), marker),
  boundary("late", "each", timer("timeDuration", "PT1H")),
  end("given-up"),
  flow("f3", "late", "given-up"),
);

const invocation = (n: number): Invocation => ({
  id: `i${n}`,
  until: instantFrom(1_900_000_000_000),
  mayContinue: true,
});

/** Handles queued messages as queues would: parked facts of one instance ten at a time. */
async function drain({ engine, queued }: PlainWorld): Promise<Message[]> {
  const handled: Message[] = [];
  for (let n = 0; queued.length > 0; n += 1) {
    const [first] = queued.splice(0, 1);
    if (first === undefined) break;
    if (first.kind !== "parked") {
      handled.push(first);
      await engine.handle(first, invocation(n));
      continue;
    }
    const rest = queued.filter((it): it is ParkedMessage => it.kind === "parked").slice(0, 9);
    for (const it of rest) queued.splice(queued.indexOf(it), 1);
    const taken = [first, ...rest];
    handled.push(...taken);
    const verdicts = await engine.advance(taken, invocation(n));
    queued.push(...taken.filter((_, at) => verdicts[at] !== "release"));
  }
  return handled;
}

const handlerOf = (
  run: (input: Variables, about: { attempt: number; idempotencyKey: string }) => TaskOutcome,
  more: Partial<TaskHandler> = {},
): TaskHandler => ({
  timeoutMs: 1_000,
  isolate: false,
  exclusive: false,
  run: async (input, about) => run(variablesIn(input), about),
  ...more,
});
const completed = (variables: Variables): TaskOutcome => ({ kind: "completed", variables });
const doubled = handlerOf(({ item }) => completed({ result: Number(item) * 2 }));

describe("a batch of tasks", () => {
  test("of a thousand takes about one commit per ten, and the instance stays small (R15, R23)", async () => {
    const store = new SimulatedStore({});
    let largest = 0;
    const commit = store.commit.bind(store);
    store.commit = (writes) => {
      for (const write of writes) {
        if ("put" in write && write.put.key.sk === "S") {
          largest = Math.max(largest, write.put.body.length);
        }
      }
      return commit(writes);
    };
    const world = aPlainWorld({ store, handlers: { each: doubled } });
    await world.engine.deploy({ notation: "bpmn", source });
    const variables = { items: several(1_000) };
    const { instanceId } = await world.engine.start("p", { variables });
    const handled = await drain(world);

    const { result, status } = await world.engine.result(instanceId);
    expect(status).toBe("succeeded");
    expect((result as { results: unknown }).results).toEqual(several(1_000).map((n) => n * 2));
    expect(handled.filter(({ kind }) => kind === "members")).toHaveLength(10);
    expect(handled.filter(({ kind }) => kind === "task")).toHaveLength(1_000);
    expect(world.commits.length).toBeLessThanOrEqual(110);
    expect(largest).toBeLessThan(8_000);
  });

  test("whose expressions take long leaves outcomes to the next commit", async () => {
    const feel = feelLanguage();
    const language: ExpressionLanguage = {
      ...feel,
      evaluate: (text, lookup, given) => {
        if (given.budget && text === "result") given.budget.work -= MAX_WORK_PER_COMMIT;
        return feel.evaluate(text, lookup, given);
      },
    };
    const expressions = new Map([[FEEL, language]]);
    const world = aPlainWorld({ handlers: { each: doubled }, expressions });
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p", { variables: { items: several(20) } });

    await drain(world);

    const { result } = await world.engine.result(instanceId);
    expect(result).toMatchObject({ results: several(20).map((n) => n * 2) });
    expect(world.commits.length).toBeGreaterThanOrEqual(20);
  });

  test("of a thousand for workers lets no caller wait for its rows", async () => {
    const store = new SimulatedStore({});
    let writes = 0;
    const commit = store.commit.bind(store);
    store.commit = (asked) => {
      writes += 1;
      return commit(asked);
    };
    const { engine, drain } = aPlainWorld({ store });
    await engine.deploy({ notation: "bpmn", source });
    writes = 0;

    await engine.start("p", { variables: { items: several(1_000) } });
    const inCall = writes;
    await drain();

    expect(inCall).toBeLessThan(10);
    const poll = { type: "each", max: 100, lockSeconds: 60, worker: "anna" };
    let given = 0;
    for (let round = 0; round < 10; round++) given += (await engine.activate(poll)).tasks.length;
    expect(given).toBe(1_000);
  });

  test.each([
    ["durable", MANY_PROCESSES],
    ["in memory", ONE_PROCESS],
  ])("opens items again without taking others from their workers, %s", async (_, host) => {
    const { engine, drain } = aPlainWorld({
      settings: { host, membersPerPage: 1_000 },
    });
    await engine.deploy({ notation: "bpmn", source });
    await engine.start("p", { instanceId: "i", variables: { items: several(215) } });
    await drain();
    const poll = { type: "each", max: 100, lockSeconds: 600, worker: "anna" };
    const given = [];
    for (let round = 0; round < 3; round++) given.push(...(await engine.activate(poll)).tasks);
    // So many fail that the last of them share an incident.
    for (const { taskId, lockToken } of given.slice(0, 205)) {
      await engine.failTask(taskId, { lockToken, message: "no", code: "BAD" });
    }
    await drain();
    const shared = (await engine.get("i")).incidents.at(-1)?.incidentId ?? "";

    await engine.resolveIncident("i", shared);
    await drain();

    const others = (await engine.activate({ ...poll, worker: "bert" })).tasks;
    const locked = new Set(given.slice(205).map(({ taskId }) => taskId));
    expect(others.length).toBeGreaterThan(1);
    expect(others.filter(({ taskId }) => locked.has(taskId))).toEqual([]);
  });

  test("retries items by their messages alone, under the same key (F67)", async () => {
    const keys: string[] = [];
    const flaky = handlerOf(({ item }, { attempt, idempotencyKey }) => {
      if (item === 4) keys.push(`${idempotencyKey}/${attempt}`);
      return item === 4 && attempt < 3
        ? { kind: "failed", message: "flaky" }
        : completed({ result: item ?? null });
    });
    const world = aPlainWorld({ handlers: { each: flaky } });
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p", { variables: { items: several(12) } });

    await drain(world);

    expect((await world.engine.result(instanceId)).status).toBe("succeeded");
    expect(keys).toEqual([1, 2, 3].map((attempt) => `${instanceId}:f1.2#4/${attempt}`));
    const { items } = await world.engine.history(instanceId, { limit: 200 });
    expect(items.filter(({ type }) => type === "task-failed")).toEqual([]);
  });

  test("raises an incident for an item that fails permanently, which is resolved by itself (F58)", async () => {
    let isBroken = true;
    const broken = handlerOf(({ item }) =>
      item === 4 && isBroken
        ? { kind: "failed", message: "no" }
        : completed({ result: item ?? null }),
    );
    const world = aPlainWorld({ handlers: { each: broken } });
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p", { variables: { items: several(12) } });
    await drain(world);
    const { incidents, waits, status } = await world.engine.get(instanceId);

    isBroken = false;
    const [incident] = incidents;
    await world.engine.resolveIncident(instanceId, incident?.incidentId ?? "");
    await drain(world);

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([{ message: "Entry 5 of the list: no", element: "each" }]);
    expect(waits).toMatchObject([
      { kind: "timer" },
      { kind: "task", taskType: "each", members: { size: 12, open: 0 } },
      { kind: "incident" },
    ]);
    expect((await world.engine.result(instanceId)).status).toBe("succeeded");
  });

  test("without a handler is listed, completed and failed through the API, item by item (F2)", async () => {
    const world = aPlainWorld();
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p", { variables: { items: several(12) } });
    await drain(world);
    const listed = await world.engine.tasks({ type: "each" }, { limit: 50 });
    const own = await world.engine.tasks({ instanceId }, { limit: 5 });
    const taskId = `${instanceId}.f1.2#3`;

    await world.engine.failTask(taskId, { message: "later" });
    await drain(world);
    const failed = await world.engine.tasks({ type: "each" }, { limit: 50 });
    for (const { taskId: id, variables } of failed.items) {
      await world.engine.completeTask(id, { variables: { result: variables.item ?? null } });
    }
    await drain(world);

    expect(listed.items.map(({ variables }) => variables.item)).toEqual(
      expect.arrayContaining(several(12)),
    );
    expect(listed.items.find((task) => task.taskId === taskId)).toMatchObject({
      idempotencyKey: `${instanceId}:f1.2#3`,
      attempt: 1,
      variables: { item: 3, loopCounter: 4, result: null },
    });
    expect([own.items.length, own.nextCursor]).toEqual([5, expect.stringMatching(/:f1\.2#4$/)]);
    expect(failed.items.filter(({ attempt }) => attempt === 2)).toHaveLength(1);
    await expect(world.engine.completeTask(taskId)).rejects.toMatchObject({
      code: "task/not-found",
    });
    expect((await world.engine.result(instanceId)).result).toMatchObject({ results: several(12) });
    expect((await world.engine.tasks({ type: "each" }, { limit: 50 })).items).toEqual([]);
  });

  test("ignores late outcomes of its items after it was interrupted", async () => {
    let ran = 0;
    const counting = handlerOf(() => {
      ran += 1;
      return completed({});
    });
    const world = aPlainWorld({ handlers: { each: counting } });
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p", { variables: { items: several(12) } });
    await world.engine.handle(world.queued.shift() as Message, invocation(0));
    const left = world.queued.splice(0);
    world.moveTo(world.now() + 3_600_000);
    await world.engine.wake(instanceKey("default", instanceId), invocation(1));
    world.queued.push(...left);

    await drain(world);

    expect(ran).toBe(0);
    expect((await world.engine.get(instanceId)).completedElements).toContain("given-up");
  });

  test("claims an exclusive item by itself, and raises an incident if its outcome is unknown (F67)", async () => {
    const runs: number[] = [];
    const exclusive = handlerOf(
      ({ item }) => {
        runs.push(Number(item));
        return completed({ result: item ?? null });
      },
      { exclusive: true },
    );
    const world = aPlainWorld({ handlers: { each: exclusive } });
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p", { variables: { items: several(12) } });
    await world.engine.handle(world.queued.shift() as Message, invocation(0));
    const fourth = world.queued.find((it) => it.kind === "task" && it.ticket === "f1.2#4");
    const lost = { id: "lost", until: instantFrom(world.now() + 60_000), mayContinue: true };
    await world.engine.handle(fourth as Message, lost);
    world.queued.splice(world.queued.length - 1); // its outcome is lost with its host
    const held = await world.engine.handle(fourth as Message, invocation(1));
    world.moveTo(world.now() + 60_001);
    const verdict = await world.engine.handle(fourth as Message, invocation(2));
    world.queued.splice(world.queued.indexOf(fourth as Message), 1);
    await drain(world);

    expect([held, verdict]).toEqual([{ keepForMs: 60_000 }, "release"]);
    expect(runs.filter((n) => n === 4)).toEqual([4]);
    const { incidents } = await world.engine.get(instanceId);
    expect(incidents).toMatchObject([{ type: "JOB_NO_RETRIES" }]);
    expect(incidents[0]?.message).toContain("Entry 5 of the list: The task is exclusive");
  });

  test("fails an item that was delivered too often (poison)", async () => {
    const world = aPlainWorld({ handlers: { each: doubled } });
    await world.engine.deploy({ notation: "bpmn", source });
    await world.engine.start("p", { variables: { items: several(12) } });
    await world.engine.handle(world.queued.shift() as Message, invocation(0));
    const first = world.queued.shift() as Message;

    await world.engine.giveUp(first, invocation(1));
    const again = world.queued.at(-1) as Message;
    await world.engine.giveUp({ ...again, retries: 1 } as Message, invocation(2));

    expect(again).toMatchObject({ kind: "task", ticket: "f1.2#0", attempt: 2, retries: 2 });
    expect(world.commits.at(-1)?.tickets.filter(({ on }) => on === "incident")).toHaveLength(1);
  });
});
