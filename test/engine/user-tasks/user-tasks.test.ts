import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { MAX_ROW_IN_FLIGHT_MS } from "../../../lib/definition/limits.ts";
import { MANY_PROCESSES, ONE_PROCESS } from "../../../lib/engine/world.ts";
import type { Store } from "../../../lib/ports/store.ts";
import type { TaskFilter } from "../../../lib/shapes/tasks.ts";
import {
  assignment,
  boundary,
  end,
  extensions,
  file,
  flow,
  ioMapping,
  person,
  process,
  properties,
  sequence,
  start,
  timer,
  xml,
} from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const FOR_SALES = sequence(
  person("approve", assignment({ candidateGroups: "sales, support", candidateUsers: "=[who]" })),
);

/** A world with one process; `ids` of the tasks that a filter finds, on all its pages. */
async function aWorld(source = FOR_SALES, options: Parameters<typeof aPlainWorld>[0] = {}) {
  const store = new SimulatedStore({});
  const world = aPlainWorld({ store, ...options });
  const { engine, drain } = world;
  await engine.deploy({ notation: "bpmn", source });
  const begin = async (instanceId: string, variables = { who: "wilma" }) => {
    await engine.start("p", { instanceId, variables });
    await drain();
    world.moveTo(world.now() + 1_000);
    const { items } = await engine.tasks({ instanceId }, { limit: 1 });
    return items[0]?.taskId ?? "";
  };
  const found = async (filter: TaskFilter, limit = 100) => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.tasks(filter, { limit, ...(cursor !== undefined && { cursor }) });
      ids.push(...page.items.map(({ instanceId }) => instanceId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return ids;
  };
  const rows = () =>
    store
      .items()
      .filter(({ key }) => key.pk.includes("#U#"))
      .map(({ key }) => key.pk.split("#").slice(2).join("#"))
      .toSorted();
  return { ...world, store, begin, found, rows };
}

describe.each([
  ["queues that last", MANY_PROCESSES],
  ["queues in memory", ONE_PROCESS],
])("a user task, with %s,", (_, host) => {
  const settings = { host };

  test("F66: is found by group, candidate and state, and among all tasks", async () => {
    const { begin, found } = await aWorld(FOR_SALES, { settings });
    await begin("one", { who: "anna" });
    await begin("two", { who: "bert" });

    expect(await found({ candidateGroup: "sales" }, 1)).toEqual(["one", "two"]);
    expect(await found({ candidateGroup: "support" })).toEqual(["one", "two"]);
    expect(await found({ candidateGroup: "it" })).toEqual([]);
    expect(await found({ candidateUser: "bert" })).toEqual(["two"]);
    expect(await found({ state: "created" })).toEqual(["one", "two"]);
    expect(await found({ state: "claimed" })).toEqual([]);
    expect(await found({ type: "io.camunda.zeebe:userTask" })).toEqual(["one", "two"]);
    expect(await found({})).toEqual(["one", "two"]);
    expect(await found({ instanceId: "two", candidateGroup: "sales" })).toEqual(["two"]);
    expect(await found({ instanceId: "two", state: "claimed" })).toEqual([]);
  });

  test("F66: is claimed by one user, and the other learns who has it", async () => {
    const { engine, begin, found, drain, rows } = await aWorld(FOR_SALES, { settings });
    const taskId = await begin("one", { who: "anna" });

    const first = await engine.claimTask(taskId, { user: "anna" });
    const again = await engine.claimTask(taskId, { user: "anna" });
    const other = engine.claimTask(taskId, { user: "bert", groups: ["sales"] });

    await expect(other).rejects.toMatchObject({ code: "task/claimed", message: /anna's/ });
    expect([first, again]).toEqual([{ claimed: true }, { claimed: true }]);
    expect(await found({ assignee: "anna" })).toEqual(["one"]);
    expect(await found({ candidateGroup: "sales", state: "claimed" })).toEqual(["one"]);
    expect(await found({ candidateGroup: "sales", state: "created" })).toEqual([]);
    await drain();
    expect(rows()).toEqual(["a#anna", "all", "g#sales", "g#support", "u#anna"]);
    expect((await engine.history("one", { limit: 100 })).items.at(-1)).toMatchObject({
      type: "task-assigned",
      data: { assignee: "anna" },
    });
  });

  test("F66: is unclaimed by its assignee, and claimed by another", async () => {
    const { engine, begin, found, drain, rows } = await aWorld(FOR_SALES, { settings });
    const taskId = await begin("one");
    await engine.claimTask(taskId, { user: "anna" });

    const others = engine.unclaimTask(taskId, { user: "bert" });

    await expect(others).rejects.toMatchObject({ code: "task/claimed" });
    expect(await engine.unclaimTask(taskId, { user: "anna" })).toEqual({ unclaimed: true });
    expect(await engine.unclaimTask(taskId, { user: "anna" })).toEqual({ unclaimed: true });
    expect(await found({ assignee: "anna" })).toEqual([]);
    await engine.claimTask(taskId, { user: "bert" });
    expect(await found({ assignee: "bert" })).toEqual(["one"]);
    await drain();
    expect(rows()).toEqual(["a#bert", "all", "g#sales", "g#support", "u#wilma"]);
  });

  test("F66: is removed with all its rows when it is completed, and answers 404 from then on", async () => {
    const { engine, begin, found, drain, rows } = await aWorld(FOR_SALES, { settings });
    const taskId = await begin("one");
    await engine.claimTask(taskId, { user: "anna" });

    const wrong = engine.completeTask(taskId, { user: "bert" });
    await expect(wrong).rejects.toMatchObject({ code: "task/claimed" });
    await engine.completeTask(taskId, { user: "anna", variables: { ok: true } }, "key");
    const repeated = await engine.completeTask(
      taskId,
      { user: "anna", variables: { ok: true } },
      "key",
    );
    await drain();

    expect(repeated).toEqual({ completed: true });
    expect(await engine.get("one")).toMatchObject({ status: "succeeded", variables: { ok: true } });
    expect(rows()).toEqual([]);
    expect(await found({})).toEqual([]);
    const gone = { code: "task/not-found" };
    await expect(engine.completeTask(taskId)).rejects.toMatchObject(gone);
    await expect(engine.claimTask(taskId, { user: "anna" })).rejects.toMatchObject(gone);
    await expect(engine.unclaimTask(taskId, { user: "anna" })).rejects.toMatchObject(gone);
    await expect(engine.task(taskId)).rejects.toMatchObject(gone);
    await expect(engine.claimTask("nonsense", { user: "anna" })).rejects.toMatchObject(gone);
    await expect(engine.claimTask("none.k1.1", { user: "anna" })).rejects.toMatchObject(gone);
  });

  test("F66: is removed with all its rows when its instance is cancelled", async () => {
    const { engine, begin, drain, rows } = await aWorld(FOR_SALES, { settings });
    const taskId = await begin("one");
    await engine.claimTask(taskId, { user: "anna" });

    await engine.cancel("one");
    await drain();

    expect(rows()).toEqual([]);
    await expect(engine.completeTask(taskId)).rejects.toMatchObject({ code: "task/not-found" });
  });

  test("is still found after an incident released it", async () => {
    const { engine, begin, found, drain } = await aWorld(FOR_SALES, { settings });
    const taskId = await begin("one", { who: "anna" });
    await engine.failTask(taskId, { message: "I cannot" });
    await drain();
    const none = await found({ candidateGroup: "sales" });

    const [incident] = (await engine.get("one")).incidents;
    await engine.resolveIncident("one", incident?.incidentId ?? "");
    await drain();

    expect(none).toEqual([]);
    expect(incident).toMatchObject({ type: "JOB_NO_RETRIES", message: "I cannot" });
    expect(await found({ candidateGroup: "sales" })).toEqual(["one"]);
    expect(await found({ candidateUser: "anna" })).toEqual(["one"]);
  });
});

describe("a user task", () => {
  test("F66: shows its candidates, due date, priority and form", async () => {
    const source = file(
      process(
        extensions(xml("zeebe:userTaskForm", { id: "f" }, '{"components":[]}')),
        start(),
        xml(
          "userTask",
          { id: "approve" },
          extensions(
            assignment({ assignee: "anna", candidateGroups: "sales" }),
            xml("zeebe:taskSchedule", {
              dueDate: "2030-01-01T00:00:00Z",
              followUpDate: "2029-12-01T00:00:00Z",
            }),
            xml("zeebe:priorityDefinition", { priority: "80" }),
            xml("zeebe:formDefinition", { formKey: "camunda-forms:bpmn:f" }),
          ),
        ),
        end(),
        flow("f1", "start", "approve"),
        flow("f2", "approve", "end"),
      ),
    );
    const { engine, begin } = await aWorld(source);
    const taskId = await begin("one");
    const shown = {
      taskId,
      type: "io.camunda.zeebe:userTask",
      state: "claimed",
      assignee: "anna",
      candidateUsers: [],
      candidateGroups: ["sales"],
      dueDate: "2030-01-01T00:00:00.000Z",
      followUpDate: "2029-12-01T00:00:00.000Z",
      priority: 80,
      requiredOutputs: [],
      form: { formKey: "camunda-forms:bpmn:f" },
      headers: { "io.camunda.zeebe:assignee": "anna" },
    };

    const { items } = await engine.tasks({ assignee: "anna" }, { limit: 10 });

    expect(items).toMatchObject([shown]);
    expect(items[0]?.form).not.toHaveProperty("body");
    expect(await engine.task(taskId)).toMatchObject({
      ...shown,
      form: { formKey: "camunda-forms:bpmn:f", body: { components: [] } },
    });
  });

  test("F66: cannot be completed without its outputs, and stays open", async () => {
    const source = sequence(
      person(
        "approve",
        properties({ requiredOutputs: "signature" }),
        ioMapping(
          xml("zeebe:output", { source: "=approved", target: "decision" }),
          xml("zeebe:output", { source: "=who", target: "by" }),
        ),
      ),
    );
    const { engine, begin, drain } = await aWorld(source);
    const taskId = await begin("one");

    const empty = engine.completeTask(taskId);
    const half = engine.completeTask(taskId, { variables: { approved: true } });

    await expect(empty).rejects.toMatchObject({
      code: "task/outputs-missing",
      message: /signature, approved/,
      details: [{ path: "variables.signature" }, { path: "variables.approved" }],
    });
    await expect(half).rejects.toMatchObject({ message: /without signature \(/ });
    expect((await engine.task(taskId)).requiredOutputs).toEqual(["signature", "approved"]);
    await engine.completeTask(taskId, { variables: { approved: true, signature: "x" } });
    await drain();
    expect((await engine.get("one")).variables).toMatchObject({ decision: true, by: "wilma" });
  });

  test("can be claimed only by the users whom the model names, as far as the engine can know", async () => {
    const named = sequence(person("approve", assignment({ candidateUsers: "anna" })));
    const { engine, begin } = await aWorld(named);
    const taskId = await begin("one");
    const grouped = await aWorld();
    const forSales = await grouped.begin("one");
    const open = await aWorld(sequence(person("approve")));
    const forAll = await open.begin("one");

    const stranger = engine.claimTask(taskId, { user: "bert", groups: ["sales"] });
    const outsider = grouped.engine.claimTask(forSales, { user: "bert", groups: ["it"] });

    await expect(stranger).rejects.toMatchObject({ code: "task/not-a-candidate" });
    await expect(outsider).rejects.toMatchObject({ code: "task/not-a-candidate" });
    expect(await engine.claimTask(taskId, { user: "anna", groups: [] })).toEqual({ claimed: true });
    expect(await grouped.engine.claimTask(forSales, { user: "bert" })).toEqual({ claimed: true });
    expect(await open.engine.claimTask(forAll, { user: "bert" })).toEqual({ claimed: true });
  });

  test("is not run by a handler of its type, unless it is also a job", async () => {
    const tasks = { "io.camunda.zeebe:userTask": () => ({ by: "machine" }) };
    const forPeople = await aWorld(sequence(person("approve")), { tasks });
    await forPeople.begin("one");
    const asJob = await aWorld(sequence(xml("userTask", { id: "approve" })), { tasks });
    await asJob.begin("one");

    expect(await forPeople.found({ state: "created" })).toEqual(["one"]);
    expect(await forPeople.engine.get("one")).toMatchObject({ status: "suspended" });
    expect(await asJob.engine.get("one")).toMatchObject({ variables: { by: "machine" } });
    expect(asJob.rows()).toEqual([]);
  });

  test("that is also a job is offered to workers and to users, and listed once", async () => {
    const { begin, found, rows, engine } = await aWorld(
      sequence(xml("userTask", { id: "approve" }, extensions(assignment({ assignee: "anna" })))),
    );
    const taskId = await begin("one");

    expect(await found({})).toEqual(["one"]);
    expect(await found({ type: "io.camunda.zeebe:userTask" })).toEqual(["one"]);
    expect(await found({ assignee: "anna" })).toEqual(["one"]);
    expect(rows()).toEqual(["a#anna", "all"]);
    await engine.unclaimTask(taskId, { user: "anna" });
    expect(await found({ state: "created" })).toEqual(["one"]);
  });

  test("can be filtered by being overdue; time alone changes nothing", async () => {
    const due = xml("zeebe:taskSchedule", { dueDate: "=due" });
    const { begin, found, moveTo, now } = await aWorld(sequence(person("approve", due)));
    const at = new Date(now() + 60_000).toISOString();
    await begin("one", Object.assign({ who: "" }, { due: at }));
    await begin("two", Object.assign({ who: "" }, { due: null }));

    const before = await found({ overdue: true });
    moveTo(now() + 60_000);

    expect(before).toEqual([]);
    expect(await found({ overdue: true })).toEqual(["one"]);
  });

  test("shows its candidates, and the API calls that resume it", async () => {
    const { engine, begin } = await aWorld(
      sequence(
        person(
          "approve",
          assignment({ candidateUsers: "anna" }),
          properties({ requiredOutputs: "ok" }),
        ),
        boundary("late", "approve", timer("timeDuration", "P1D")),
      ),
    );
    const taskId = await begin("one");
    const free = (await engine.waits("one")).items.find(({ kind }) => kind === "task");
    await engine.claimTask(taskId, { user: "anna" });
    const hers = (await engine.waits("one")).items.find(({ kind }) => kind === "task");

    expect(free).toMatchObject({
      state: "created",
      candidateUsers: ["anna"],
      claimWith: { call: "claimTask", taskId, body: { user: "anna" } },
      wakeWith: { call: "completeTask", taskId, body: { variables: { ok: null } } },
    });
    expect(hers).toMatchObject({ state: "claimed", assignee: "anna" });
    expect(hers).not.toHaveProperty("claimWith");
  });

  test("is the only task that can be claimed", async () => {
    const machine = sequence(
      xml("serviceTask", { id: "t" }, extensions(xml("zeebe:taskDefinition", { type: "w" }))),
    );
    const { engine, begin } = await aWorld(machine);
    const taskId = await begin("one");

    const claim = engine.claimTask(taskId, { user: "anna" });

    await expect(claim).rejects.toMatchObject({ code: "task/not-for-people" });
  });

  test("that is claimed twice under one key is claimed once", async () => {
    const { engine, begin, drain } = await aWorld();
    const taskId = await begin("one");
    const request = { user: "anna" };

    await engine.claimTask(taskId, request, "k");
    await engine.unclaimTask(taskId, request);
    const repeated = await engine.claimTask(taskId, request, "k");
    await drain();

    expect(repeated).toEqual({ claimed: true });
    expect((await engine.task(taskId)).state).toBe("created");
    const other = engine.claimTask(taskId, { user: "bert" }, "k");
    await expect(other).rejects.toMatchObject({ code: "request/key-reused" });
  });
});

describe("the rows of a user task", () => {
  test("are written and removed together: there may be dozens of them", async () => {
    const store = new SimulatedStore({});
    const commit = store.commit.bind(store);
    let [under, most] = [0, 0];
    store.commit = async (writes) => {
      under += 1;
      most = Math.max(most, under);
      const outcome = await commit(writes);
      under -= 1;
      return outcome;
    };
    const everybody = Array.from({ length: 30 }, (_, n) => `user-${n}`).join(", ");
    const source = sequence(person("approve", assignment({ candidateUsers: everybody })));
    const { begin, engine } = await aWorld(source, { store });

    const taskId = await begin("a");
    const putAtOnce = most;
    most = 0;
    await engine.completeTask(taskId);

    expect(putAtOnce).toBeGreaterThanOrEqual(30);
    expect(most).toBeGreaterThanOrEqual(30);
    expect(store.items().filter(({ key }) => key.pk.includes("#U#"))).toEqual([]);
  });
});

describe("a row of a user task", () => {
  test("that is dead is removed when a list reads it, and no other is", async () => {
    const { engine, store, begin, found, rows } = await aWorld();
    const taskId = await begin("one");
    const all = store.items().find(({ key }) => key.pk.endsWith("#U#all"));
    if (all === undefined) throw new Error("no row");
    const put = (name: string, version: number) =>
      store.commit([
        { put: { ...all, key: { ...all.key, pk: `default#U#a#${name}` }, version }, when: "newer" },
      ]);
    await put("gone", 1);
    await put("ahead", 99);

    expect(await found({ assignee: "gone" })).toEqual([]);
    expect(await found({ assignee: "ahead" })).toEqual([]);
    expect(rows()).toContain("a#ahead");
    expect(rows()).not.toContain("a#gone");
    await engine.claimTask(taskId, { user: "anna" });
    expect(await found({ assignee: "anna" })).toEqual(["one"]);
  });

  test("without its instance stays until no commit can be in progress", async () => {
    const { store, begin, found, rows, moveTo, now } = await aWorld();
    await begin("one");
    const [instance] = store.items().filter(({ key }) => key.pk.endsWith("#I#one"));
    if (instance === undefined) throw new Error("no instance");
    await store.commit([{ remove: instance.key, when: { version: instance.version } }]);

    await found({ candidateGroup: "sales" });
    const young = rows();
    moveTo(now() + MAX_ROW_IN_FLIGHT_MS + 1);
    await found({ candidateGroup: "sales" });
    await found({});

    expect(young).toContain("g#sales");
    expect(rows()).not.toContain("g#sales");
    expect(rows()).not.toContain("all");
  });

  test("that was written again while a list found it dead stays", async () => {
    const { engine, store, begin, found } = await aWorld();
    const taskId = await begin("one");
    await engine.claimTask(taskId, { user: "anna" });
    const get = store.get.bind(store);
    const scan = store.scan.bind(store);
    // The reader sees her row, then the task without her; then she takes it again.
    store.scan = async (...asked) => {
      const page = await scan(...asked);
      store.scan = scan;
      await engine.unclaimTask(taskId, { user: "anna" });
      await store.commit([{ put: page.items[0] ?? never(), when: "newer" }]);
      store.get = async (...keys) => {
        const items = await get(...keys);
        store.get = get;
        await engine.claimTask(taskId, { user: "anna" });
        return items;
      };
      return page;
    };

    await found({ assignee: "anna" });

    expect(await found({ assignee: "anna" })).toEqual(["one"]);
  });

  const never = (): never => {
    throw new Error("no row");
  };
});

describe("a page of user tasks", () => {
  test("of 50 among very many reads the items of one page", async () => {
    const store = new SimulatedStore({});
    let read = 0;
    const counted: Store = {
      get: async (keys, how) => {
        read += keys.length;
        return store.get(keys, how);
      },
      scan: async (pk, range) => {
        const page = await store.scan(pk, range);
        read += page.items.length;
        return page;
      },
      list: async (view, range) => {
        const page = await store.list(view, range);
        read += page.items.length;
        return page;
      },
      due: store.due.bind(store),
      commit: store.commit.bind(store),
      tidy: store.tidy.bind(store),
      close: store.close.bind(store),
    };
    const world = aPlainWorld({ store: counted });
    await world.engine.deploy({ notation: "bpmn", source: FOR_SALES });
    for (let n = 0; n < 60; n++) {
      const who = n < 55 ? "anna" : "bert";
      await world.engine.start("p", { instanceId: `i${n}`, variables: { who } });
      await world.drain();
    }
    await crowd(store, 100_000);
    read = 0;

    const { items, nextCursor } = await world.engine.tasks(
      { candidateUser: "anna", candidateGroup: "sales" },
      { limit: 50 },
    );

    expect(items).toHaveLength(50);
    expect(nextCursor).toBeDefined();
    expect(read).toBeLessThanOrEqual(110);
  });

  /** Rows of other tasks in every list, as this many more tasks would leave them. */
  async function crowd(store: SimulatedStore, count: number): Promise<void> {
    const like = store.items().filter(({ key }) => /#U#(all|g#sales)$/.test(key.pk));
    for (let n = 0; n < count / 2; n++) {
      for (const row of like.slice(0, 2)) {
        const key = { ...row.key, sk: `2${String(n).padStart(14, "0")}#other${n}#k1.1` };
        await store.commit([{ put: { ...row, key }, when: "newer" }]);
      }
    }
  }
});
