import { describe, expect, test } from "vitest";
import { MAX_VALUES_BYTES } from "../../lib/definition/limits.ts";
import { sequence, service, timer, xml } from "../support/bpmn-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";

const source = sequence(service("work"));
const wait = (duration: string) =>
  sequence(xml("intermediateCatchEvent", { id: "wait" }, timer("timeDuration", duration)));

describe("a start", () => {
  test("F2 of an unknown definition is refused", async () => {
    const engine = await anEngine();

    await expect(engine.start("nope")).rejects.toMatchObject({ code: "definition/not-found" });
  });

  test("F2 F3 shows its variables with their types at the first step", async () => {
    const engine = await anEngine({ source });
    const variables = { n: 1.5, yes: true, text: "ü", list: [1, null], deep: { a: { b: [] } } };

    const started = await engine.start("p", { variables, businessKey: "B-1", tags: ["a"] });

    expect(await engine.get(started.instanceId)).toEqual(started);
    expect(started).toMatchObject({
      instanceId: expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
      definition: { id: "p", version: 1 },
      status: "suspended",
      variables,
      businessKey: "B-1",
      tags: ["a"],
      activeElements: ["work"],
      tokens: [{ element: "work", count: 1 }],
      completedElements: ["start"],
      incidents: [],
      waits: [{ kind: "task", element: "work", taskType: "work", runsHere: false }],
    });
    expect(Date.parse(started.startedAt)).toBeGreaterThan(0);
    const [task] = (await engine.tasks()).items;
    expect(task).toMatchObject({ variables, type: "work", attempt: 1 });
  });

  test("F3 of an unknown instance is not found", async () => {
    const engine = await anEngine();

    await expect(engine.get("nope")).rejects.toMatchObject({ code: "instance/not-found" });
    await expect(engine.get("\ud800")).rejects.toMatchObject({ code: "instance/not-found" });
    await expect(engine.get("x".repeat(9_999))).rejects.toMatchObject({
      code: "instance/not-found",
    });
    await expect(engine.history("nope")).rejects.toMatchObject({ code: "instance/not-found" });
    await expect(engine.cancel("nope")).rejects.toMatchObject({ code: "instance/not-found" });
  });

  test("repeated with its id and body is the same instance, with another body refused", async () => {
    const engine = await anEngine({ source });
    const request = { instanceId: "one", variables: { a: 1 } };

    const first = await engine.start("p", request);
    const again = await engine.start("p", request);
    const other = engine.start("p", { ...request, variables: { a: 2 } });

    expect(again).toEqual(first);
    await expect(other).rejects.toMatchObject({ code: "instance/id-taken" });
    expect((await engine.list()).items).toHaveLength(1);
  });

  test("repeated with its key is the same instance, with another body refused", async () => {
    const engine = await anEngine({ source });

    const first = await engine.start("p", { variables: { a: 1 } }, "key-1");
    const again = await engine.start("p", { variables: { a: 1 } }, "key-1");
    const other = engine.start("p", { variables: { a: 2 } }, "key-1");

    expect(again.instanceId).toBe(first.instanceId);
    await expect(other).rejects.toMatchObject({ code: "request/key-reused" });
  });

  test("that would be too large is refused and nothing is stored", async () => {
    const engine = await anEngine({ source });

    const started = engine.start("p", { variables: { big: "x".repeat(MAX_VALUES_BYTES) } });

    await expect(started).rejects.toMatchObject({ code: "request/body-too-large" });
    expect((await engine.list()).items).toEqual([]);
  });
});

describe("cancelling", () => {
  test("F7 ends the instance, leaves nothing armed, and a second one reports a no-op", async () => {
    const engine = await anEngine({ source: wait("PT1H") });
    const { instanceId } = await engine.start("p");

    const first = await engine.cancel(instanceId, { reason: "changed my mind" });
    const second = await engine.cancel(instanceId);

    expect(first).toEqual({ cancelled: true });
    expect(second).toEqual({ cancelled: false });
    expect(await engine.get(instanceId)).toMatchObject({
      status: "cancelled",
      terminationKind: "cancel",
      waits: [],
      activeElements: [],
    });
    expect(await engine.advanceClock("P1D")).toMatchObject({ fired: 0, left: [] });
    expect(await trailOf(engine, instanceId)).toEqual(
      expect.arrayContaining(["cancel-requested", "element-terminated wait", "instance-ended"]),
    );
  });

  test("F7 removes the task that could be completed from outside", async () => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");
    const [task] = (await engine.tasks()).items;

    await engine.cancel(instanceId);

    const late = engine.complete(task?.taskId ?? "");
    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
    expect(await engine.tasks()).toEqual({ items: [] });
  });

  test("with the same key gives the same response, with another body it is refused", async () => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");

    expect(await engine.cancel(instanceId, { reason: "a" }, "k")).toEqual({ cancelled: true });
    expect(await engine.cancel(instanceId, { reason: "a" }, "k")).toEqual({ cancelled: true });
    const other = engine.cancel(instanceId, { reason: "b" }, "k");
    await expect(other).rejects.toMatchObject({ code: "request/key-reused" });
  });
});

describe("the five statuses", () => {
  test("S1 are reported as they are, and ended instances never change", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<object>();
    const engine = await anEngine({ source, tasks: { work: () => gate } });

    const { instanceId } = await engine.start("p");
    expect((await engine.get(instanceId)).status).toBe("running");
    open({});
    expect(await engine.result(instanceId)).toMatchObject({ status: "succeeded" });

    expect(await engine.cancel(instanceId)).toEqual({ cancelled: false });
    expect(await engine.get(instanceId)).toMatchObject({
      status: "succeeded",
      terminationKind: "success",
      result: {},
    });
  });

  test("S1 F21 a deadline that passes before a later timer ends it failed, by timeout", async () => {
    const engine = await anEngine({ source: wait("P2D") });
    const { instanceId } = await engine.start("p", { deadline: "P1D" });
    expect((await engine.get(instanceId)).status).toBe("suspended");

    await engine.advanceClock("P1D");

    expect(await engine.result(instanceId)).toMatchObject({
      status: "failed",
      terminationKind: "timeout",
      error: { message: expect.stringContaining("deadline") },
    });
    expect((await engine.get(instanceId)).waits).toEqual([]);
    expect(await engine.advanceClock("P7D")).toMatchObject({ fired: 0 });
  });

  test("S1 F21 a deadline that comes later than the end does nothing", async () => {
    const engine = await anEngine({ source: wait("PT1H") });
    const { instanceId } = await engine.start("p", { deadline: "P1D" });

    await engine.advanceClock("P7D");

    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test.each(["PT0S", "2001-01-01T00:00:00Z"])(
    "S1 F21 a deadline of %s, which has passed, ends it at once, by timeout",
    async (deadline) => {
      const runs: string[] = [];
      const tasks = { work: () => void runs.push("work") };
      const engine = await anEngine({ source: sequence(service("work")), tasks });

      const { instanceId } = await engine.start("p", { deadline });
      await engine.idle();

      expect(await engine.result(instanceId)).toMatchObject({
        status: "failed",
        terminationKind: "timeout",
      });
      expect(runs).toEqual([]);
    },
  );

  test("S1 a result before the end is refused", async () => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");

    const result = engine.result(instanceId, { timeoutMs: 0 });

    await expect(result).rejects.toMatchObject({ code: "instance/not-ended" });
  });
});

describe("lists", () => {
  test("are newest first, by definition and status, in pages", async () => {
    const engine = await anEngine({ source });
    for (let n = 1; n <= 7; n++) {
      await engine.start("p", { instanceId: `i${n}` });
      await engine.advanceClock("PT1S");
    }
    await engine.cancel("i3");

    const first = await engine.list({ definition: "p", limit: 4 });
    const cursor = first.nextCursor ?? "";
    const second = await engine.list({ definition: "p", limit: 4, cursor });

    const ids = (page: typeof first) => page.items.map(({ instanceId }) => instanceId);
    expect(ids(first)).toEqual(["i7", "i6", "i5", "i4"]);
    expect(ids(second)).toEqual(["i3", "i2", "i1"]);
    expect(second.nextCursor).toBeUndefined();
    expect(ids(await engine.list({ status: "cancelled" }))).toEqual(["i3"]);
    expect(ids(await engine.list({ status: "suspended", limit: 200 }))).toHaveLength(6);
    expect(ids(await engine.list({ definition: "q" }))).toEqual([]);
  });
});

describe("the data folder", () => {
  test("keeps everything across a restart", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source });
    const { instanceId } = await before.start("p", { variables: { a: 1 } });
    const seen = await before.get(instanceId);
    await before.close();

    const after = await anEngine({ dataDir });

    expect(await after.get(instanceId)).toEqual(seen);
    const [task] = (await after.tasks()).items;
    await after.complete(task?.taskId ?? "", { variables: { b: 2 } });
    expect(await after.result(instanceId)).toMatchObject({ variables: { a: 1, b: 2 } });
  });

  test("has one owner", async () => {
    const dataDir = aDataDir();
    await anEngine({ dataDir });

    await expect(anEngine({ dataDir })).rejects.toMatchObject({ code: "store/folder-in-use" });
  });
});
