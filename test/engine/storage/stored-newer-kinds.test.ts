import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { FORMATS, type Kind } from "../../../lib/engine/storage/formats.ts";
import type { Key } from "../../../lib/ports/store.ts";
import { storeEveryKind, TASKS, WORKFLOWS } from "../../support/every-kind.ts";
import { HANDLERS, LARGE, MEMBERS, NEWER } from "../../support/every-newer-kind.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";
import { READ, worldOf } from "../../support/stored-world.ts";

const PAGE = { limit: 200 };

/** Formats whose engines had user tasks, workers, children, batches and timer starts. */
const KNOWING = READ.filter((format) => format >= 4);

const tasksOf = async ({ engine }: PlainWorld, instanceId: string) =>
  (await engine.tasks({ instanceId }, PAGE)).items;

/** Completes every open task of an instance, and whatever that opens. */
async function finish(world: PlainWorld, instanceId: string): Promise<void> {
  for (let open = await tasksOf(world, instanceId); open.length > 0; ) {
    for (const { taskId } of open) {
      await world.engine.completeTask(taskId, { variables: { done: taskId } });
    }
    await world.drain();
    open = await tasksOf(world, instanceId);
  }
}

describe.each(KNOWING)("data stored by an engine of format %i", (format) => {
  test("continues: a claimed user task, found by every list", async () => {
    const world = await worldOf(format);
    const { engine, drain } = world;
    const lists = [{ assignee: "anna" }, { candidateUser: "bert" }, { candidateGroup: "sales" }];
    const found = await Promise.all(lists.map((filter) => engine.tasks(filter, PAGE)));
    const [task] = await tasksOf(world, NEWER.person);
    const taskId = task?.taskId ?? "";

    const other = engine.claimTask(taskId, { user: "bert" });
    await expect(other).rejects.toMatchObject({ code: "task/claimed" });
    await engine.unclaimTask(taskId, { user: "anna" });
    await engine.claimTask(taskId, { user: "bert" });
    await engine.completeTask(taskId, { user: "bert" });
    await drain();

    for (const { items } of found) {
      expect(items.map(({ instanceId }) => instanceId)).toEqual([NEWER.person]);
    }
    expect(task).toMatchObject({
      assignee: "anna",
      priority: 80,
      dueDate: "2030-01-31T10:00:00.000Z",
      form: { formId: "leave" },
    });
    expect((await engine.get(NEWER.person)).status).toBe("succeeded");
  });

  test("continues: a user task that is also a job, by a worker", async () => {
    const { engine } = await worldOf(format);
    const lock = { type: "io.camunda.zeebe:userTask", max: 5, lockSeconds: 10, worker: "v" };

    const { tasks } = await engine.activate(lock);
    const [task] = tasks;
    await engine.completeTask(task?.taskId ?? "", { lockToken: task?.lockToken ?? "" });

    expect(tasks.map(({ instanceId }) => instanceId)).toEqual([NEWER.shared]);
    expect((await engine.get(NEWER.shared)).status).toBe("succeeded");
  });

  test("continues: a task under a worker's lock, which holds, and expires in time", async () => {
    const { engine, store, moveTo, now } = await worldOf(format);
    const lock = { type: "carry", max: 5, lockSeconds: 10, worker: "v" };
    const row = store.items().find(({ key }) => key.sk.startsWith("L#"));
    const [, until = "", , , lockId = ""] = row?.key.sk.split("#") ?? [];

    const early = await engine.activate(lock);
    const kept = await engine.heartbeat(`${NEWER.locked}.k1.1`, {
      lockToken: `0.${Number(until)}.${lockId}.carry`,
      lockSeconds: 10,
    });
    moveTo(now() + 11_000);
    const late = await engine.activate(lock);

    expect(early.tasks.map(({ instanceId }) => instanceId)).toEqual([NEWER.large]);
    expect(kept).toHaveProperty("lockToken");
    expect(late.tasks.map(({ instanceId }) => instanceId).sort()).toEqual(
      [NEWER.large, NEWER.locked].sort(),
    );
  });

  test("continues: a call that waits for its child", async () => {
    const world = await worldOf(format);
    const { engine, drain } = world;
    const [wait] = (await engine.waits(NEWER.call)).items;
    const [task] = await tasksOf(world, wait?.childInstanceId ?? "");

    await engine.completeTask(task?.taskId ?? "", { variables: { paid: 3 } });
    await drain();

    expect((await engine.result(NEWER.call)).variables).toEqual({ n: 7, paid: 3 });
  });

  test("continues: a half finished batch, with an item that is retried", async () => {
    const world = await worldOf(format);
    const before = await tasksOf(world, NEWER.family);

    await finish(world, NEWER.family);

    const { results } = (await world.engine.result(NEWER.family)).variables;
    expect(before).toHaveLength(MEMBERS - 3);
    expect(before.filter(({ attempt }) => attempt === 2)).toHaveLength(1);
    expect(results).toHaveLength(MEMBERS);
    expect(results).not.toContain(null);
  });

  test("continues: items that were claimed, and one that failed", async () => {
    const { engine, drain } = await worldOf(format);
    const { incidents } = await engine.get(NEWER.sealed);

    await engine.resolveIncident(NEWER.sealed, incidents[0]?.incidentId ?? "", {
      variables: { mended: true },
      retries: 1,
    });
    await drain();

    const { variables } = await engine.result(NEWER.sealed);
    const results = Array.from({ length: MEMBERS }, (_, n) => `sealed ${n + 1}`);
    expect(variables).toMatchObject({ results });
  });

  test("is read: an externalized value", async () => {
    const { engine } = await worldOf(format);

    expect((await engine.get(NEWER.large)).variables).toEqual({ large: LARGE });
  });

  test("starts: a definition by its timer, with its count and anchor", async () => {
    const { engine, store, drain, moveTo, now } = await worldOf(format);
    const [before] = (await engine.schedules(PAGE)).items;
    const stored = store.items().find(({ key }) => key.sk.startsWith("TS#"));
    moveTo(now() + 601_000);

    const invocation = { id: "one", until: instantFrom(now() + 60_000), mayContinue: false };
    const fired = await engine.wake(stored?.key ?? { pk: "", sk: "" }, invocation);
    await drain();

    const [after] = (await engine.schedules(PAGE)).items;
    expect(fired).toBe(1);
    expect(before).toMatchObject({ definition: { id: "by-timer" }, kind: "cycle" });
    expect((await engine.list({ definition: "by-timer" }, PAGE)).items).toHaveLength(1);
    expect([before, after]).toMatchObject([{ remaining: 3 }, { remaining: 2 }]);
  });
});

describe("the stored kinds", () => {
  /** How the items of a kind are recognised by their keys; a new kind must be added here, too. */
  const KEYS: Readonly<Record<Exclude<Kind, "turn">, RegExp>> = {
    instance: /#I#\S+ S$/,
    chunk: /#I#\S+ T#/,
    value: /#I#\S+ V#/,
    "member-claim": /#I#\S+ U#/,
    definition: /#D#\S+ V#/,
    latest: /#D#\S+ LATEST$/,
    "definition-version": /#D#\S+ N#/,
    "timer-start": /#D#\S+ TS#/,
    head: /#G#\S+ H$/,
    place: /#G#\S+ Q#/,
    row: /#G#\S+#1\.0 /,
    broadcast: /#B#\S+ H$/,
    page: /#B#\S+ P#/,
    road: /#B#\S+ R#/,
    mailbox: /#M#/,
    "message-start": /#N#/,
    "kept-event": /#Y#\S+ E#/,
    "event-id": /#V#/,
    "dead-letter": /#X#/,
    offer: /#J#\S+#0 [AL]#/,
    "task-type": /#J#\S+ H$/,
  };
  const nameOf = ({ pk, sk }: Key) => `${pk} ${sk}`;

  test("all exist in the fixture before a format changes", async () => {
    const store = new SimulatedStore({});
    const world = { store, tasks: TASKS, handlers: HANDLERS, workflows: WORKFLOWS };
    await storeEveryKind(aPlainWorld(world));

    const names = store.items().map(({ key }) => nameOf(key));
    const missing = Object.entries(KEYS).filter(([, key]) => !names.some((it) => key.test(it)));

    expect(missing).toEqual([]);
  });

  test("all existed when the newest fixture was written", async () => {
    const { store } = await worldOf(FORMATS.instance);

    const names = store.items().map(({ key }) => nameOf(key));
    const missing = Object.entries(KEYS).filter(([, key]) => !names.some((it) => key.test(it)));

    expect(missing).toEqual([]);
  });
});
