import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { isTask } from "../../../lib/engine/rows/open-tickets.ts";
import { openRow } from "../../../lib/engine/rows/task-row.ts";
import { type HostTraits, MANY_PROCESSES, ONE_PROCESS } from "../../../lib/engine/world.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { GatedStore, type Meant } from "../../support/gated-store.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const source = bpmn.sequence(bpmn.service("work"));
const poll = { type: "work", max: 10, lockSeconds: 30, worker: "anna" };

const locksTask: Meant = (keys) => keys.some(({ sk }) => sk.startsWith("L#"));

/** One task waits, and the poll that is about to lock it pauses until it is continued. */
async function aPollThatStands({ host }: { host: HostTraits }) {
  const gated = new GatedStore();
  const { engine, drain } = aPlainWorld({ store: gated.store, settings: { host } });
  await engine.deploy({ notation: "bpmn", source });
  await engine.start("p");
  await drain();
  const gate = Promise.withResolvers<void>();
  const standing = Promise.withResolvers<void>();
  gated.before(locksTask, () => {
    standing.resolve();
    return gate.promise;
  });
  const first = engine.activate(poll);
  await standing.promise;
  return { engine, first, letGo: () => gate.resolve() };
}

describe("a poll that stalls while it locks a task", () => {
  test("does not block the next poll, because it may have crashed", async () => {
    const { engine, first, letGo } = await aPollThatStands({ host: MANY_PROCESSES });

    const next = await engine.activate({ ...poll, worker: "bert" });
    letGo();

    expect(next.tasks).toHaveLength(1);
    expect((await first).tasks).toEqual([]);
  });

  test("is not overtaken by others of its process, which would crash together", async () => {
    const { engine, first, letGo } = await aPollThatStands({ host: ONE_PROCESS });

    const next = await engine.activate({ ...poll, worker: "bert" });
    letGo();

    expect(next.tasks).toEqual([]);
    expect((await first).tasks).toHaveLength(1);
  });
});

describe("two polls that compete for a row which may not be the only one of its task", () => {
  test("end with the task locked by one", async () => {
    const gated = new GatedStore();
    const { engine, drain, now, moveTo } = aPlainWorld({ store: gated.store });
    await engine.deploy({ notation: "bpmn", source });
    await engine.start("p");
    await drain();
    await engine.activate({ ...poll, worker: "dead" });
    moveTo(now() + 31_000);
    // Both have looked for other locks and found none; then both write their own row.
    const first = gateBefore(gated, locksTask);
    const anna = engine.activate(poll);
    await first.reached;
    const second = gateBefore(gated, locksTask);
    const bert = engine.activate({ ...poll, worker: "bert" });
    await second.reached;
    const removal = gateBefore(gated, locksTask);
    second.open();
    await removal.reached;

    first.open();
    const given = await anna;
    removal.open();

    expect(given.tasks).toHaveLength(1);
    expect((await bert).tasks).toEqual([]);
    moveTo(now() + 29_000);
    expect((await engine.activate(poll)).tasks).toEqual([]);
    moveTo(now() + 2_000);
    expect((await engine.activate(poll)).tasks).toHaveLength(1);
  });
});

describe("two polls that are woken when both rows of a task have expired", () => {
  test("end with the task locked by one, if all run in one process", async () => {
    const gated = new GatedStore();
    const { store } = gated;
    const settings = { host: ONE_PROCESS };
    const { engine, drain, now, moveTo } = aPlainWorld({ store, settings });
    await engine.deploy({ notation: "bpmn", source });
    await engine.start("p");
    await drain();
    await engine.activate({ ...poll, worker: "dead" });
    // A process that dies between writing the new row and removing the old one leaves both.
    const { items } = await store.scan("default#J#work#0", { from: "L#", to: "M", limit: 1 });
    for (const { key, ...row } of items) {
      const twin = { ...row, key: { ...key, sk: `${key.sk}twin` } };
      await store.commit([{ put: twin, when: "absent" }]);
    }
    moveTo(now() + 31_000);
    const first = gateBefore(gated, locksTask);
    const anna = engine.activate(poll);
    await first.reached;
    // If the second took the other row, both rows would be written before either looks for the
    // other.
    const second = gateBefore(gated, locksTask);
    const bert = engine.activate({ ...poll, worker: "bert" });
    await Promise.race([second.reached, bert]);
    const removal = gateBefore(gated, locksTask);
    second.open();
    await Promise.race([removal.reached, bert]);
    removal.open();
    first.open();

    const given = await Promise.all([anna, bert]);

    expect(given.flatMap(({ tasks }) => tasks)).toHaveLength(1);
  });
});

describe("a worker whose task was taken over through another row than its own", () => {
  test("has lost its lock, whatever it calls", async () => {
    const { engine, drain, now, moveTo } = aPlainWorld();
    await engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await engine.start("p");
    const [dead] = (await engine.activate(poll)).tasks;
    const { taskId = "", lockToken = "" } = dead ?? {};
    await drain(); // The parked copy of the start offers the task again.
    moveTo(now() + 31_000);
    const [alive] = (await engine.activate({ ...poll, worker: "bert" })).tasks;

    const lost = { code: "task/lock-lost" };
    await expect(engine.completeTask(taskId, { lockToken })).rejects.toMatchObject(lost);
    const failure = { lockToken, message: "late" };
    await expect(engine.failTask(taskId, failure)).rejects.toMatchObject(lost);
    await expect(engine.heartbeat(taskId, { lockToken })).rejects.toMatchObject(lost);

    expect(alive?.taskId).toBe(taskId);
    await engine.completeTask(taskId, { lockToken: alive?.lockToken ?? "" });
    await drain();
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });
});

/** Pauses the next commit of this kind, until it is opened. */
function gateBefore(gated: GatedStore, meant: Meant) {
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  gated.before(meant, () => {
    reached.resolve();
    return open.promise;
  });
  return { reached: reached.promise, open: () => open.resolve() };
}

describe("a row of a step that lost its commit", () => {
  test("does not point to the task of another type with the same ticket", async () => {
    const store = new SimulatedStore({});
    const { engine, drain, commits } = aPlainWorld({ store });
    await engine.deploy({ notation: "bpmn", source });
    await engine.start("p");
    await drain();
    const instance = commits.at(-1);
    const [task] = instance?.tickets.filter(isTask) ?? [];
    if (!instance || !task) throw new Error("there is no task");
    const left = openRow(instance, { ...task, type: "other" }, 1);
    await store.commit([{ put: left, when: "absent" }]);

    const { tasks } = await engine.activate({ ...poll, type: "other" });

    expect(tasks).toEqual([]);
    expect((await engine.tasks({ type: "other" }, { limit: 10 })).items).toEqual([]);
    expect((await engine.activate(poll)).tasks).toMatchObject([{ type: "work" }]);
  });
});

describe("rows that were written again for tasks that are locked", () => {
  test("do not block the tasks after them", async () => {
    const { engine, drain, queued } = aPlainWorld();
    const marker = bpmn.loop({ inputCollection: "=items", inputElement: "item" });
    const each = bpmn.xml("serviceTask", { id: "each" }, bpmn.extensions(bpmn.job()), marker);
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(each) });
    const items = Array.from({ length: 150 }, (_, n) => n);
    await engine.start("p", { instanceId: "i", variables: { items } });
    await drain();
    const first = await engine.activate({ ...poll, max: 100, lockSeconds: 3_600 });
    // The page that has sent them is delivered a second time.
    const page = { tenant: "default", instanceId: "i", ticket: "f1.1", from: 0, to: 100 };
    queued.push({ kind: "members", ...page });
    await drain();

    const second = await engine.activate({ ...poll, worker: "bert" });

    expect(first.tasks).toHaveLength(100);
    expect(second.tasks).toHaveLength(10);
    const taken = new Set(first.tasks.map(({ taskId }) => taskId));
    expect(second.tasks.filter(({ taskId }) => taken.has(taskId))).toEqual([]);
  });
});
