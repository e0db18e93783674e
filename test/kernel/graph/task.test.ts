import { describe, expect, test } from "vitest";
import { MAX_MESSAGE_LENGTH } from "../../../lib/definition/limits.ts";
import { aBoundaryTimer, anEnd, aProcess, aStart, aTask } from "../../support/graph-builder.ts";
import { BEGIN, play } from "../../support/play.ts";

const oneTask = (options: Parameters<typeof aTask>[1] = {}) =>
  aProcess([aStart(), aTask("work", options), anEnd()], ["start -> work -> end"]);

describe("a task that fails", () => {
  test("F67: keeps its ticket and gets its next attempt at once", async () => {
    const order = await play(oneTask());
    const { id } = order.task("work");

    await order.fail("work", { message: "no answer" });

    expect(order.task("work")).toMatchObject({ id, attempt: 2, retries: 2 });
    expect(order.task("work")).not.toHaveProperty("notBefore");
    expect(order.instance.trail.entries.at(-1)).toMatchObject({
      type: "task-failed",
      element: "work",
      data: { message: "no answer", attempt: 1 },
    });
  });

  test("backs off as the model says", async () => {
    const order = await play(oneTask({ backoff: "PT30S" }));

    await order.fail("work");

    expect(order.task("work").notBefore).toBe(BEGIN + 30_000);
  });

  test("backs off as the worker says, over the model", async () => {
    const order = await play(oneTask({ backoff: "PT30S" }));

    await order.fail("work", { retryAfterMs: 5_000, retries: 7 });

    expect(order.task("work")).toMatchObject({ retries: 7, notBefore: BEGIN + 5_000 });
  });

  test("drops an old back-off with its next failure", async () => {
    const order = await play(oneTask());
    await order.fail("work", { retryAfterMs: 5_000 });

    await order.fail("work", { retryAfterMs: 0 });

    expect(order.task("work")).not.toHaveProperty("notBefore");
  });

  test("with a back-off that is no duration is an incident that keeps the failure", async () => {
    const order = await play(oneTask({ backoff: "soon" }));

    await order.fail("work");

    expect(order.incident("work")).toMatchObject({ type: "EXTRACT_VALUE_ERROR" });
    expect(order.incident("work").kept?.fact?.kind).toBe("task-failed");
  });

  test("makes the variables of the failure local to the task", async () => {
    const order = await play(oneTask());

    await order.fail("work", { variables: { hint: "try b" } });
    const seen = order.input("work");
    await order.complete("work", { hint: "done", result: 1 });

    expect(seen).toEqual({ hint: "try b" });
    expect(order.variables).toEqual({ result: 1 });
  });

  test("truncates a message at the limit", async () => {
    const order = await play(oneTask({ retries: "1" }));

    await order.fail("work", { message: "x".repeat(MAX_MESSAGE_LENGTH + 1) });

    expect(order.incident("work").message).toHaveLength(MAX_MESSAGE_LENGTH);
  });
});

describe("a task without attempts left", () => {
  const definition = aProcess(
    [
      aStart(),
      aTask("work", { retries: "1" }),
      aBoundaryTimer("late", { on: "work", duration: "PT1H" }),
      aTask("remind"),
    ],
    ["start -> work", "late -> remind"],
  );

  test("F68: is an incident that names the failure; the instance stays live", async () => {
    const order = await play(definition);

    await order.fail("work", { message: "no answer" });

    expect(order.status).toBe("live");
    expect(order.open).toEqual(["timer late", "incident work"]);
    expect(order.incident("work")).toMatchObject({ type: "JOB_NO_RETRIES", message: "no answer" });
    expect(order.active).toEqual(["work"]);
  });

  test("F68: gets a new ticket when the incident is resolved, with the specified attempts", async () => {
    const order = await play(definition);
    const { id } = order.task("work");
    await order.fail("work");

    await order.resolve("work", { retries: 5, variables: { fixed: true } });

    expect(order.task("work")).toMatchObject({ attempt: 1, retries: 5 });
    expect(order.task("work").id).not.toBe(id);
    expect(order.open).toEqual(["timer late", "task work"]);
    expect(order.variables).toEqual({ fixed: true });
  });

  test("gets the model's attempts when none are specified", async () => {
    const order = await play(definition);
    await order.fail("work");

    await order.resolve("work");

    expect(order.task("work").retries).toBe(1);
  });

  test("may be declared by the failure: zero left is none left", async () => {
    const order = await play(oneTask());

    await order.fail("work", { retries: 0 });

    expect(order.incident("work").type).toBe("JOB_NO_RETRIES");
  });

  test("loses its incident to a boundary timer like any other ticket", async () => {
    const order = await play(definition);
    await order.fail("work");

    await order.fire("late");

    expect(order.open).toEqual(["task remind"]);
  });

  test("from the start waits until it is given one", async () => {
    const order = await play(oneTask({ retries: "=attempts" }), { variables: { attempts: 0 } });
    const { type } = order.incident("work");

    await order.resolve("work");
    const again = order.incident("work").type;
    await order.resolve("work", { variables: { attempts: 2 } });

    expect([type, again]).toEqual(["JOB_NO_RETRIES", "JOB_NO_RETRIES"]);
    expect(order.task("work").retries).toBe(2);
  });
});

describe("a task's type and attempts", () => {
  test("may be computed", async () => {
    const definition = oneTask({ type: '="send-" + channel', retries: "=2 + 3" });

    const order = await play(definition, { variables: { channel: "mail" } });

    expect(order.task("work")).toMatchObject({ type: "send-mail", retries: 5 });
  });

  test.each([
    ["type", { type: "=1 + 1" }],
    ["retries", { retries: '="many"' }],
  ])("that are no %s are an incident, and resolving enters the task again", async (_, options) => {
    const definition = oneTask({ ...options, inputs: { seen: "=hint" } });
    const order = await play(definition, { variables: { hint: "old" } });

    const { type, phase } = order.incident("work");
    await order.resolve("work", { variables: { hint: "new" } });

    expect({ type, phase }).toEqual({ type: "EXTRACT_VALUE_ERROR", phase: "enter" });
    expect(order.open).toEqual(["incident work"]);
    expect(order.variables).toEqual({ hint: "new" });
  });

  test("that fail undo the input mappings, which run once in the end", async () => {
    const definition = oneTask({ type: "=kind", inputs: { amount: "=amount + 1" } });
    const order = await play(definition, { variables: { amount: 1 } });

    await order.resolve("work", { variables: { kind: "mail" } });

    expect(order.input("work")).toEqual({ amount: 2, kind: "mail" });
  });

  test("are computed again for a new ticket, and that may fail on its own", async () => {
    const definition = oneTask({ type: "=kind", retries: "1" });
    const order = await play(definition, { variables: { kind: "a" } });
    await order.fail("work");

    await order.resolve("work", { variables: { kind: 1 } });
    const { type, phase } = order.incident("work");
    await order.resolve("work", { variables: { kind: "b" } });

    expect({ type, phase }).toEqual({ type: "EXTRACT_VALUE_ERROR", phase: "run" });
    expect(order.task("work").type).toBe("b");
  });
});

describe("a task whose type is computed", () => {
  test.each([
    ["nothing", '=""'],
    ["too long for a key", '="字字字字字字字字" + filler'],
  ])("to %s is an incident: no worker could find it", async (_, type) => {
    const order = await play(oneTask({ type }), { variables: { filler: "字".repeat(104) } });

    expect(order.incident("work")).toMatchObject({ type: "EXTRACT_VALUE_ERROR" });
    expect(order.incident("work").message).toMatch(/The type of a task must have 1 to 255/);
  });

  test("to the maximum length of a key is opened", async () => {
    const order = await play(oneTask({ type: "=filler" }), {
      variables: { filler: "字".repeat(111) },
    });

    expect(order.task("work").type).toHaveLength(111);
  });
});
