import { describe, expect, test } from "vitest";
import {
  boundary,
  end,
  extensions,
  flow,
  headers,
  ioMapping,
  job,
  sequence,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";

const task = (...more: readonly string[]) =>
  xml("serviceTask", { id: "charge" }, extensions(job("charge", { retries: "3" }), ...more));

describe("a task with a handler", () => {
  test("F67 gets its mapped input, its headers and a key, and returns its mapped output", async () => {
    const source = sequence(
      task(
        headers(["currency", "EUR"]),
        ioMapping(
          xml("zeebe:input", { source: "=order.total", target: "amount" }),
          xml("zeebe:output", { source: "=receipt.id", target: "receiptId" }),
        ),
      ),
    );
    const seen: unknown[] = [];
    const engine = await anEngine({
      source,
      tasks: {
        charge: (input, { idempotencyKey, attempt, headers: given, element }) => {
          seen.push({ input, idempotencyKey, attempt, given, element });
          return { receipt: { id: "r-1", secret: true } };
        },
      },
    });

    const { instanceId } = await engine.start("p", { variables: { order: { total: 42 } } });

    expect((await engine.result(instanceId)).variables).toEqual({
      order: { total: 42 },
      receiptId: "r-1",
    });
    expect(seen).toEqual([
      {
        input: { order: { total: 42 }, amount: 42 },
        idempotencyKey: `${instanceId}:k1.1`,
        attempt: 1,
        given: { currency: "EUR" },
        element: "charge",
      },
    ]);
  });

  test("F67 is retried with backoff under the same key, then succeeds", async () => {
    const keys: string[] = [];
    const engine = await anEngine({
      source: sequence(task()),
      tasks: {
        charge: {
          backoff: { initial: "PT1S", multiplier: 2 },
          run: (_, { idempotencyKey, attempt }) => {
            keys.push(`${idempotencyKey}#${attempt}`);
            if (attempt < 3) throw new Error("flaky");
            return { paid: true };
          },
        },
      },
    });
    const { instanceId } = await engine.start("p");
    await engine.idle();

    const [backingOff] = (await engine.waits(instanceId)).items;
    await engine.advanceClock("PT1S");
    const { now } = await engine.advanceClock("PT2S");

    expect(backingOff).toMatchObject({ kind: "task", dueAt: expect.any(String) });
    expect(keys.map((key) => key.replace(instanceId, "i"))).toEqual([
      "i:k1.1#1",
      "i:k1.1#2",
      "i:k1.1#3",
    ]);
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", endedAt: now });
  });

  test("F67 F68 that uses up its retries raises an incident; resolving runs it again", async () => {
    let isBroken = true;
    let runs = 0;
    const engine = await anEngine({
      source: sequence(task()),
      tasks: {
        charge: () => {
          runs += 1;
          if (isBroken) throw new Error("the bank is closed");
          return { paid: true };
        },
      },
    });
    const { instanceId } = await engine.start("p");
    await engine.idle();
    const { incidents, status } = await engine.get(instanceId);

    isBroken = false;
    const call = (await engine.waits(instanceId)).items[0]?.wakeWith;
    await engine.resolveIncident(instanceId, incidents[0]?.incidentId ?? "");
    await engine.result(instanceId);

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([
      { type: "JOB_NO_RETRIES", element: "charge", message: "the bank is closed" },
    ]);
    expect(call).toEqual({
      method: "POST",
      path: `/v1/instances/${instanceId}/incidents/${incidents[0]?.incidentId}/resolve`,
      body: {},
    });
    expect(runs).toBe(4);
    const again = engine.resolveIncident(instanceId, incidents[0]?.incidentId ?? "");
    await expect(again).rejects.toMatchObject({ code: "incident/not-found" });
  });

  test("F67 that exceeds its timeout has failed that attempt", async () => {
    const aborted: boolean[] = [];
    const engine = await anEngine({
      source: sequence(
        task(),
        boundary("late", "charge", xml("errorEventDefinition")),
        end("gaveUp"),
        flow("f9", "late", "gaveUp"),
      ),
      tasks: {
        charge: {
          timeout: 5,
          run: (_, { signal, attempt }) =>
            attempt === 1
              ? new Promise(() => signal.addEventListener("abort", () => aborted.push(true)))
              : { paid: attempt },
        },
      },
    });

    const { instanceId } = await engine.start("p");

    expect((await engine.result(instanceId)).variables).toEqual({ paid: 2 });
    expect(aborted).toEqual([true]);
    const { items } = await engine.history(instanceId);
    expect(items.find(({ type }) => type === "task-failed")?.data).toMatchObject({
      message: expect.stringMatching(/timed out/i),
    });
  });

  test("that is exclusive is claimed first, and raises an incident when its outcome is unknown", async () => {
    const dataDir = aDataDir();
    const source = sequence(task());
    const { promise: began, resolve } = Promise.withResolvers<void>();
    const run = () => {
      resolve();
      return new Promise(() => {});
    };
    const charge = { exclusive: true, run };
    const before = await anEngine({ dataDir, source, tasks: { charge } });
    const { instanceId } = await before.start("p");
    await began;
    await before.close({ graceMs: 0 });

    let runs = 0;
    const after = await anEngine({
      dataDir,
      tasks: { charge: { exclusive: true, run: () => ({ runs: ++runs }) } },
    });
    await after.idle();
    const { incidents } = await after.get(instanceId);
    const ranInDoubt = runs;
    await after.resolveIncident(instanceId, incidents[0]?.incidentId ?? "");

    expect(ranInDoubt).toBe(0);
    expect(incidents).toMatchObject([{ message: expect.stringMatching(/may have done/) }]);
    expect((await after.result(instanceId)).variables).toEqual({ runs: 1 });
  });
});

describe("a task without a handler", () => {
  test("F67 waits, is listed, and is completed by its id", async () => {
    const engine = await anEngine({ source: sequence(task()) });
    const { instanceId } = await engine.start("p", { variables: { total: 1 } });

    const { items } = await engine.tasks({ type: "charge" });
    const [wait] = (await engine.waits(instanceId)).items;
    await engine.complete(items[0]?.taskId ?? "", { variables: { paid: true } });

    expect(items).toMatchObject([{ type: "charge", instanceId, variables: { total: 1 } }]);
    expect(wait?.wakeWith).toEqual({
      method: "POST",
      path: `/v1/tasks/${items[0]?.taskId}/complete`,
      body: { variables: {} },
    });
    expect((await engine.result(instanceId)).variables).toEqual({ total: 1, paid: true });
    const again = engine.complete(items[0]?.taskId ?? "");
    await expect(again).rejects.toMatchObject({ code: "task/not-found" });
    expect(await engine.tasks({ type: "charge" })).toEqual({ items: [] });
  });

  test("F67 completed twice with one key gives the same response, with another body a refusal", async () => {
    const engine = await anEngine({ source: sequence(task()) });
    await engine.start("p");
    const [open] = (await engine.tasks()).items;
    const taskId = open?.taskId ?? "";

    expect(await engine.complete(taskId, { variables: { a: 1 } }, "k")).toEqual({
      completed: true,
    });
    expect(await engine.complete(taskId, { variables: { a: 1 } }, "k")).toEqual({
      completed: true,
    });
    const other = engine.complete(taskId, { variables: { a: 2 } }, "k");
    await expect(other).rejects.toMatchObject({ code: "request/key-reused" });
  });

  test("F67 failed from outside counts its retries down, then raises an incident", async () => {
    const engine = await anEngine({ source: sequence(task()) });
    const { instanceId } = await engine.start("p");
    const fail = async (more: object = {}) => {
      const [open] = (await engine.tasks()).items;
      await engine.fail(open?.taskId ?? "", { message: "no", ...more });
    };

    await fail();
    await fail({ retryAfter: "PT1M" });
    const [waiting] = (await engine.tasks()).items;
    await fail();

    expect(waiting).toMatchObject({ attempt: 3, retries: 1 });
    expect((await engine.get(instanceId)).incidents).toMatchObject([{ type: "JOB_NO_RETRIES" }]);
    expect(await engine.tasks()).toEqual({ items: [] });
  });

  test("F62 F67 failed with a code reaches the boundary event", async () => {
    const engine = await anEngine({
      source: sequence(
        task(),
        boundary("caught", "charge", xml("errorEventDefinition")),
        end("refused"),
        flow("f9", "caught", "refused"),
      ),
    });
    const { instanceId } = await engine.start("p");
    const [open] = (await engine.tasks()).items;

    await engine.fail(open?.taskId ?? "", { message: "no", code: "DECLINED" });

    expect((await engine.get(instanceId)).status).toBe("succeeded");
    expect(await trailOf(engine, instanceId)).toContain("element-completed refused");
  });

  test("is run by the engine once it is opened again with a handler", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source: sequence(task()) });
    const { instanceId } = await before.start("p");
    await before.idle();
    await before.close();

    const after = await anEngine({ dataDir, tasks: { charge: () => ({ paid: true }) } });

    expect((await after.result(instanceId)).variables).toEqual({ paid: true });
    expect(await after.recovered).toMatchObject({ resumed: 1, resent: 1 });
  });
});
