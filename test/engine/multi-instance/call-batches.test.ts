import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { type Variables, variablesIn } from "../../../lib/definition/json.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { instanceKey } from "../../../lib/engine/storage/keys.ts";
import { ONE_PROCESS } from "../../../lib/engine/world.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import type { Invocation, LookMessage, Message } from "../../../lib/ports/message.ts";
import type { Item } from "../../../lib/ports/store.ts";
import type { TaskHandler } from "../../../lib/ports/tasks.ts";
import { boundary, end, extensions, file, flow, loop, timer, xml } from "../../support/bpmn-xml.ts";
import { anError, line, onError, working } from "../../support/call-xml.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const several = (count: number) => Array.from({ length: count }, (_, n) => n);

const OVER = {
  inputCollection: "=items",
  inputElement: "n",
  outputCollection: "doubled",
  outputElement: "=n",
};

const calls = (marker: string, processId = "double") =>
  xml(
    "callActivity",
    { id: "call" },
    extensions(xml("zeebe:calledElement", { processId })),
    marker,
  );

const double = line("double", [working("twice")]);
/** A child that waits for a worker. */
const waiting = line("double", [working("nobody")]);

const looping = (child = double, ...more: readonly string[]) =>
  file(
    anError("BAD"),
    line(
      "caller",
      [calls(loop(OVER))],
      boundary("late", "call", timer("timeDuration", "PT1H")),
      end("given-up"),
      flow("f-late", "late", "given-up"),
      ...more,
    ),
    child,
  );

const tasks = { twice: ({ n }: Variables) => ({ n: Number(n) * 2 }) };

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
    handled.push(first);
    if (first.kind !== "look") {
      await engine.handle(first, invocation(n));
      continue;
    }
    const isAlike = (it: Message): it is LookMessage =>
      it.kind === "look" && it.instanceId === first.instanceId;
    const rest = queued.filter(isAlike).slice(0, 9);
    for (const it of rest) queued.splice(queued.indexOf(it), 1);
    handled.push(...rest);
    await engine.advance([first, ...rest], invocation(n));
  }
  return handled;
}

async function begun(world: PlainWorld, source: string, count: number): Promise<string> {
  await world.engine.deploy({ notation: "bpmn", source });
  const variables = { items: several(count) };
  const { instanceId } = await world.engine.start("caller", { variables });
  return instanceId;
}

/** The newest image of each child that was ever committed. */
function childrenIn({ commits }: PlainWorld, parentId: string): readonly Instance[] {
  const newest = new Map(commits.map((instance) => [instance.id, instance]));
  return [...newest.values()].filter(({ parent }) => parent?.instanceId === parentId);
}

describe("a batch of calls", () => {
  test("of a thousand costs its caller one commit per ten ends, and stays small (S4, R15, F58)", async () => {
    const store = new SimulatedStore({});
    const world = aPlainWorld({ store, tasks });
    let largest = 0;
    const commit = store.commit.bind(store);
    store.commit = (writes) => {
      for (const write of writes) {
        if ("put" in write && write.put.key.sk === "S" && write.put.key.pk.endsWith(instanceId)) {
          largest = Math.max(largest, write.put.body.length);
        }
      }
      return commit(writes);
    };
    let instanceId = "not begun";
    instanceId = await begun(world, looping(), 1_000);
    const handled = await drain(world);

    const { result, status } = await world.engine.result(instanceId);
    expect(status).toBe("succeeded");
    expect((result as { doubled: unknown }).doubled).toEqual(several(1_000).map((n) => n * 2));
    expect(handled.filter(({ kind }) => kind === "members")).toHaveLength(10);
    expect(world.commits.filter(({ id }) => id === instanceId).length).toBeLessThanOrEqual(110);
    expect(largest).toBeLessThan(8_000);
    expect(childrenIn(world, instanceId)).toHaveLength(1_000);
    const told = handled.filter((it) => it.kind === "look" && it.instanceId === instanceId);
    expect(told).toHaveLength(1_000);
  });

  test("starts and ends each child once, although every message comes twice (S4)", async () => {
    const world = aPlainWorld({ tasks });
    const instanceId = await begun(world, looping(), 12);

    const twice: Message[] = [];
    for (let n = 0; world.queued.length > 0; n += 1) {
      const [message] = world.queued.splice(0, 1);
      if (message === undefined) break;
      if (!twice.includes(message)) {
        twice.push(message);
        world.queued.push(message);
      }
      await world.engine.handle(message, invocation(n));
    }

    const { items } = await world.engine.history(instanceId, { limit: 200 });
    const ended = items.filter(({ type }) => type === "child-ended");
    expect(childrenIn(world, instanceId)).toHaveLength(12);
    expect(ended).toHaveLength(12);
    expect((await world.engine.result(instanceId)).result).toMatchObject({
      doubled: several(12).map((n) => n * 2),
    });
  });

  test("is shown as one wait, with the number of open children and the first of them", async () => {
    const world = aPlainWorld({ tasks });
    const instanceId = await begun(world, looping(waiting), 12);
    await drain(world);
    const { waits, status } = await world.engine.get(instanceId);
    const first = waits.find(({ kind }) => kind === "child")?.childInstanceId ?? "";
    const child = await world.engine.get(first);
    const [task] = (await world.engine.tasks({ instanceId: first }, { limit: 1 })).items;

    await world.engine.completeTask(task?.taskId ?? "", { variables: { n: 0 } });
    await drain(world);

    expect(status).toBe("suspended");
    expect(waits).toMatchObject([
      { kind: "timer" },
      { kind: "child", process: "double", members: { size: 12, open: 12 } },
    ]);
    expect(child).toMatchObject({ parent: { instanceId, awaited: true }, variables: { n: 0 } });
    const [, left] = (await world.engine.get(instanceId)).waits;
    expect(left).toMatchObject({ members: { size: 12, open: 11 } });
    expect(left?.childInstanceId).not.toBe(first);
  });

  test("cancels its children page by page, and those that have not started never start (race 20)", async () => {
    const world = aPlainWorld({ tasks, settings: { membersPerPage: 5 } });
    const instanceId = await begun(world, looping(waiting), 12);
    // The start, and then one of the three pages that start the children.
    await world.engine.handle(world.queued.shift() as Message, invocation(0));
    const [page, ...pages] = world.queued.splice(0) as [Message, ...Message[]];
    await world.engine.handle(page, invocation(1));

    await world.engine.cancel(instanceId, { reason: "enough" });
    const handled = await drain(world);
    // Pages that were in delivery all the time find every id taken.
    world.queued.push(...pages);
    await drain(world);

    const children = childrenIn(world, instanceId);
    expect(handled.filter(({ kind }) => kind === "cancel-members")).toHaveLength(3);
    expect(children).toHaveLength(12);
    expect(children.filter(({ status }) => status === "cancelled")).toHaveLength(12);
    expect(children.filter(({ erased }) => erased === true)).toHaveLength(7);
  });

  test("starts nothing again that a page finds cancelled while it runs (race 20)", async () => {
    const world = aPlainWorld({ tasks, settings: { membersPerPage: 5 } });
    const instanceId = await begun(world, looping(waiting), 12);
    await world.engine.handle(world.queued.shift() as Message, invocation(0));
    const pages = world.queued.splice(0);
    await world.engine.cancel(instanceId, {});
    await drain(world);
    world.queued.push(...pages);

    await drain(world);

    expect(childrenIn(world, instanceId).every(({ erased }) => erased === true)).toBe(true);
    expect((await world.engine.tasks({ type: "nobody" }, { limit: 50 })).items).toEqual([]);
  });

  test("is interrupted by its boundary event, and cancels at once with queues in memory", async () => {
    const settings = { membersPerPage: 5, host: ONE_PROCESS };
    const world = aPlainWorld({ tasks, settings });
    const instanceId = await begun(world, looping(waiting), 12);
    await drain(world);
    world.moveTo(world.now() + 3_600_000);

    await world.engine.wake(instanceKey("default", instanceId), invocation(1));

    const children = childrenIn(world, instanceId);
    expect(world.queued.filter(({ kind }) => kind === "cancel-members")).toEqual([]);
    expect(children.map(({ status }) => status)).toEqual(several(12).map(() => "cancelled"));
    expect((await world.engine.get(instanceId)).completedElements).toContain("given-up");
  });

  test("drops a cancel page if the stored instance shows no interruption", async () => {
    const world = aPlainWorld({ tasks });
    const instanceId = await begun(world, looping(waiting), 12);
    await drain(world);
    const about = { kind: "cancel-members", tenant: "default", ticket: "f1.2" } as const;

    await world.engine.handle({ ...about, instanceId, numbers: [0, 1] }, invocation(1));
    await world.engine.handle({ ...about, instanceId: "nobody", numbers: [0] }, invocation(2));

    expect(childrenIn(world, instanceId).every(({ status }) => status === "live")).toBe(true);
  });

  test("ends with the first error of a child that its boundary event catches (F57)", async () => {
    const caught = [
      onError("caught", "call", "BAD"),
      end("mended"),
      flow("fc", "caught", "mended"),
    ];
    const world = aPlainWorld({ tasks });
    const instanceId = await begun(world, looping(waiting, ...caught), 12);
    await drain(world);
    const { items } = await world.engine.tasks({ type: "nobody" }, { limit: 50 });

    await world.engine.failTask(items[3]?.taskId ?? "", { message: "no", code: "BAD" });
    await drain(world);

    const ends = childrenIn(world, instanceId).map(({ status }) => status);
    expect((await world.engine.get(instanceId)).completedElements).toContain("mended");
    expect(ends.toSorted()).toEqual([...several(11).map(() => "cancelled"), "failed"]);
    expect((await world.engine.tasks({ type: "nobody" }, { limit: 50 })).items).toEqual([]);
  });

  test("cancels the rest of its children when its completion condition holds (F58)", async () => {
    const until = xml("completionCondition", {}, "=numberOfCompletedInstances = 2");
    const source = file(line("caller", [calls(loop(OVER, until))]), waiting);
    const world = aPlainWorld({ tasks });
    const instanceId = await begun(world, source, 12);
    await drain(world);
    const { items } = await world.engine.tasks({ type: "nobody" }, { limit: 50 });

    for (const { taskId } of items.slice(0, 2)) {
      await world.engine.completeTask(taskId, { variables: { n: 7 } });
    }
    await drain(world);

    const { result, status } = await world.engine.result(instanceId);
    expect(status).toBe("succeeded");
    const { doubled } = result as { doubled: readonly unknown[] };
    expect(doubled.filter((n) => n === 7)).toHaveLength(2);
    const ends = childrenIn(world, instanceId).map((child) => child.status);
    expect(ends.filter((end) => end === "cancelled")).toHaveLength(10);
  });

  test("waits while a child has an incident, and continues when it is resolved", async () => {
    let isBroken = true;
    const broken = ({ n }: Variables) => {
      if (n === 4 && isBroken) throw new Error("no");
      return { n: Number(n) * 2 };
    };
    const handlers = { twice: handlerOf(broken) };
    const world = aPlainWorld({ handlers });
    const instanceId = await begun(world, looping(), 12);
    await drain(world);
    const { waits, incidents } = await world.engine.get(instanceId);
    const childId = waits.find(({ kind }) => kind === "child")?.childInstanceId ?? "";
    const [incident] = (await world.engine.get(childId)).incidents;

    isBroken = false;
    await world.engine.resolveIncident(childId, incident?.incidentId ?? "");
    await drain(world);

    expect(incidents).toEqual([]);
    expect(waits[1]).toMatchObject({ kind: "child", members: { size: 12, open: 1 } });
    expect((await world.engine.result(instanceId)).status).toBe("succeeded");
  });

  test("raises an incident for each child that cannot start, and calls again when it is resolved", async () => {
    const source = file(line("caller", [calls(loop(OVER))]));
    const world = aPlainWorld({ tasks });
    const instanceId = await begun(world, source, 12);
    await drain(world);
    const { incidents } = await world.engine.get(instanceId);

    await world.engine.deploy({ notation: "bpmn", source: file(double) });
    for (const { incidentId } of incidents) {
      await world.engine.resolveIncident(instanceId, incidentId);
    }
    await drain(world);

    expect(incidents).toHaveLength(12);
    expect(incidents[0]).toMatchObject({ type: "CALLED_ELEMENT_ERROR", element: "call" });
    expect((await world.engine.result(instanceId)).result).toMatchObject({
      doubled: several(12).map((n) => n * 2),
    });
  });

  test("is started and notified again when every queue has lost everything (D19)", async () => {
    const world = aPlainWorld({ tasks, settings: { membersPerPage: 5 } });
    const instanceId = await begun(world, looping(), 12);
    await world.engine.handle(world.queued.shift() as Message, invocation(0));
    // One page starts five children and runs them to their ends; their notifications are lost.
    const page = world.queued.shift() as Message;
    world.queued.length = 0;
    await world.engine.handle(page, invocation(1));
    for (const message of world.queued.splice(0)) await world.engine.handle(message, invocation(2));
    world.queued.length = 0;

    const report = await world.engine.recoverAll({ limit: 50 });
    await drain(world);

    // Seven that had not started and five whose ends were not taken are three pages.
    expect(report).toMatchObject({ resumed: 1, resent: 3 });
    expect((await world.engine.result(instanceId)).status).toBe("succeeded");
    expect(childrenIn(world, instanceId)).toHaveLength(12);
  });

  test("is skipped by a recovery as long as its children are live (D19)", async () => {
    const world = aPlainWorld({ tasks, settings: { membersPerPage: 5 } });
    const instanceId = await begun(world, looping(waiting), 12);
    await drain(world);
    const calm = await world.engine.recoverAll({ limit: 50 });
    world.queued.length = 0;
    const [task] = (await world.engine.tasks({ type: "nobody" }, { limit: 1 })).items;
    await world.engine.completeTask(task?.taskId ?? "", { variables: { n: 1 } });
    world.queued.length = 0;

    const report = await world.engine.recoverAll({ limit: 50 });
    await drain(world);

    expect(calm).toMatchObject({ resumed: 0, resent: 0 });
    expect(report).toMatchObject({ resumed: 1, resent: 1 });
    expect((await world.engine.get(instanceId)).waits[1]).toMatchObject({ members: { open: 11 } });
  });

  test("keeps the result of a child until it is taken, and refuses other callers' cancels (F7)", async () => {
    const world = aPlainWorld({ tasks });
    const instanceId = await begun(world, looping(waiting), 12);
    await drain(world);
    const [task] = (await world.engine.tasks({ type: "nobody" }, { limit: 1 })).items;
    const childId = task?.instanceId ?? "";
    const cancelled = world.engine.cancel(childId, {});
    await expect(cancelled).rejects.toMatchObject({ code: "instance/awaited" });

    await world.engine.completeTask(task?.taskId ?? "", { variables: { n: 1 } });
    const early = world.engine.erase(childId);
    await expect(early).rejects.toMatchObject({ code: "engine/busy" });
    await drain(world);
    await world.engine.erase(childId);

    expect((await world.engine.get(instanceId)).waits[1]).toMatchObject({ members: { open: 11 } });
  });

  test("ends with its instance's deadline, and so do its children (F43)", async () => {
    const world = aPlainWorld({ tasks });
    await world.engine.deploy({ notation: "bpmn", source: looping(waiting) });
    const { instanceId } = await world.engine.start("caller", {
      variables: { items: several(12) },
      deadline: "PT10M",
    });
    await drain(world);
    world.moveTo(world.now() + 600_000);

    await world.engine.wake(instanceKey("default", instanceId), invocation(1));
    await drain(world);

    expect(await world.engine.result(instanceId)).toMatchObject({ terminationKind: "timeout" });
    const children = childrenIn(world, instanceId);
    expect(children.every(({ status }) => status === "cancelled")).toBe(true);
  });

  test("externalizes the input shared by all children if it is large", async () => {
    const store = new SimulatedStore({});
    const world = aPlainWorld({ store, tasks });
    await world.engine.deploy({ notation: "bpmn", source: looping(waiting) });
    const variables = { items: several(12), text: "x".repeat(20_000) };
    const { instanceId } = await world.engine.start("caller", { variables });
    await drain(world);
    const [item] = await store.get([instanceKey("default", instanceId)]);

    const [task] = (await world.engine.tasks({ type: "nobody" }, { limit: 1 })).items;

    expect(item?.body.length).toBeLessThan(3_000);
    expect(task?.variables.text).toBe(variables.text);
  });
});

const handlerOf = (run: (input: Variables) => Variables): TaskHandler => ({
  timeoutMs: 1_000,
  isolate: false,
  exclusive: false,
  run: async (input) => {
    try {
      return { kind: "completed", variables: run(variablesIn(input)) };
    } catch (cause) {
      return { kind: "failed", message: String(cause), retries: 0 };
    }
  },
});

describe("a multi-instance call activity that an earlier engine has started", () => {
  test("continues with the individual tickets of its calls", async () => {
    const text = readFileSync("test/fixtures/stored/calls-apart.json", "utf8");
    const items = JSON.parse(text) as readonly (Omit<Item, "body"> & { body: string })[];
    const store = new SimulatedStore({});
    for (const item of items) {
      const put = { ...item, body: new TextEncoder().encode(item.body) };
      await store.commit([{ put, when: "absent" }]);
    }
    const world = aPlainWorld({ store });
    const before = await world.engine.get("caller-1");
    const { items: open } = await world.engine.tasks({ type: "nobody" }, { limit: 50 });

    for (const { taskId, variables } of open) {
      await world.engine.completeTask(taskId, { variables: { n: Number(variables.n) * 2 } });
    }
    await drain(world);

    expect(before.waits.filter(({ kind }) => kind === "child")).toHaveLength(12);
    expect(await world.engine.result("caller-1")).toMatchObject({
      status: "succeeded",
      result: { doubled: several(12).map((n) => n * 2) },
    });
  });
});
