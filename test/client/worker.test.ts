import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { BusinessError, type Worker, worker } from "../../lib/client/worker.ts";
import { workerDoor } from "../../lib/embedded/embedded-engine.ts";
import { boundary, end, extensions, flow, job, sequence, timer, xml } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const charge = xml("serviceTask", { id: "charge" }, extensions(job("charge", { retries: "2" })));
const source = sequence(charge);

const turn = () => new Promise((resolve) => setImmediate(resolve));

const fail = (error: Error): never => {
  throw error;
};

const workers: Worker[] = [];
const hire = (...args: Parameters<typeof worker>): Worker => {
  const hired = worker(...args);
  workers.push(hired);
  return hired;
};

afterEach(async () => {
  for (const hired of workers.splice(0)) await hired.stop({ graceMs: 0 });
});

describe("a worker of the library", () => {
  test("runs the tasks of its type and reports their results", async () => {
    const engine = await anEngine({ source });
    const client = workerDoor(engine);
    hire("charge", async ({ variables }) => ({ paid: variables.total ?? null }), { client });

    const { instanceId } = await engine.start("p", { variables: { total: 42 } });

    expect((await engine.result(instanceId)).variables).toEqual({ total: 42, paid: 42 });
  });

  test("polls again at once after a long poll, and leaks nothing by polling", async () => {
    const engine = await anEngine({ source });
    const door = workerDoor(engine);
    let [polls, listeners] = [0, 0];
    const add = vi.spyOn(AbortSignal.prototype, "addEventListener");
    const remove = vi.spyOn(AbortSignal.prototype, "removeEventListener");
    onTestFinished(() => {
      for (const spy of [add, remove]) spy.mockRestore();
    });
    // As if each poll had waited in vain for its maximum time.
    const client = {
      ...door,
      activate: async (request: Parameters<typeof door.activate>[0]) => {
        polls += 1;
        listeners = Math.max(listeners, add.mock.calls.length - remove.mock.calls.length);
        return polls < 100 ? { tasks: [] } : door.activate(request);
      },
    };
    const { instanceId } = await engine.start("p");

    hire("charge", () => ({ paid: true }), { client });

    expect((await engine.result(instanceId)).status).toBe("succeeded");
    expect(listeners).toBeLessThan(10);
  });

  test("uses up retries with thrown errors, and then raises an incident", async () => {
    const engine = await anEngine({ source });
    const attempts: number[] = [];
    const fails = ({ attempt }: { attempt: number }) => {
      attempts.push(attempt);
      throw new Error("no answer");
    };
    const { instanceId } = await engine.start("p");

    const hired = hire("charge", fails, { client: workerDoor(engine) });
    while ((await engine.get(instanceId)).incidents.length === 0) await turn();
    await hired.stop();

    expect(attempts).toEqual([1, 2]);
    expect((await engine.get(instanceId)).incidents).toMatchObject([
      { type: "JOB_NO_RETRIES", message: "no answer" },
    ]);
  });

  test.each<[string, () => unknown, RegExp]>([
    ["a name that no variable can have", () => ({ "a-b": 1 }), /"a-b" cannot name a variable/],
    ["what is no JSON", () => ({ total: 1n }), /BigInt/],
    ["too much", () => ({ all: "x".repeat(3_000_000) }), /limit|large/],
    ["an error with a long story", () => fail(new Error("x".repeat(5_000))), /^x{999}…$/],
    ["an error with half a character", () => fail(new Error("\ud800")), /^\ufffd$/],
    ["an error without words", () => fail(new Error("")), /^$/],
    ["a code that is none", () => fail(new BusinessError("", "no money")), /no money/],
    [
      "an error with variables that are none",
      () => fail(new BusinessError("DECLINED", "no money", { "a-b": 1 })),
      /"a-b" cannot name a variable.*no money/,
    ],
  ])(
    "uses up retries with %s, because the engine refuses it each time",
    async (_, work, message) => {
      const engine = await anEngine({ source });
      const { instanceId } = await engine.start("p");

      const hired = hire("charge", work, { client: workerDoor(engine) });
      while ((await engine.get(instanceId)).incidents.length === 0) await turn();
      await hired.stop();

      expect((await engine.get(instanceId)).incidents).toMatchObject([
        { type: "JOB_NO_RETRIES", message: expect.stringMatching(message) },
      ]);
    },
  );

  test("reports a business error by its code", async () => {
    const caught = [
      boundary("declined", "charge", xml("errorEventDefinition", {})),
      end("e2"),
      flow("f9", "declined", "e2"),
    ].join("");
    const engine = await anEngine({ source: sequence(charge, caught) });
    const declines = () => {
      throw new BusinessError("DECLINED", "no money");
    };
    hire("charge", declines, { client: workerDoor(engine) });

    const { instanceId } = await engine.start("p");

    expect(await engine.result(instanceId)).toMatchObject({ status: "succeeded" });
    expect((await engine.get(instanceId)).completedElements).toContain("declined");
  });

  test("learns from the signal that its task was interrupted, and reports nothing", async () => {
    const late = [
      boundary("late", "charge", timer("timeDuration", "PT10S")),
      end("e2"),
      flow("f9", "late", "e2"),
    ];
    const engine = await anEngine({ source: sequence(charge, late.join("")) });
    const begun = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const waits = async (
      _: unknown,
      { signal, heartbeat }: Parameters<Parameters<typeof worker>[1]>[1],
    ) => {
      begun.resolve();
      await engine.advanceClock("PT10S");
      await heartbeat();
      reasons.push(signal.aborted);
    };
    const hired = hire("charge", waits, { client: workerDoor(engine) });
    const { instanceId } = await engine.start("p");

    await begun.promise;
    await engine.result(instanceId);
    await hired.stop();

    expect(reasons).toEqual([true]);
  });

  test("runs up to its maximum number of tasks, and stops after they are done", async () => {
    const engine = await anEngine({ source });
    const gate = Promise.withResolvers<void>();
    const twoBegun = Promise.withResolvers<void>();
    let begun = 0;
    const hired = hire(
      "charge",
      async () => {
        begun += 1;
        if (begun === 2) twoBegun.resolve();
        await gate.promise;
      },
      { client: workerDoor(engine), concurrency: 2 },
    );
    const ids = ["one", "two", "three"];
    for (const instanceId of ids) await engine.start("p", { instanceId });
    await twoBegun.promise;

    const stopped = hired.stop();
    const busy = hired.busy;
    gate.resolve();
    await stopped;

    expect(busy).toBe(2);
    expect(begun).toBe(2);
    const left = await engine.tasks({ type: "charge" });
    expect(left.items).toHaveLength(1);
  });

  test("continues when the engine is back, and reports again what got no response", async () => {
    const engine = await anEngine({ source });
    const door = workerDoor(engine);
    let polls = 0;
    let reports = 0;
    const troubles: string[] = [];
    const client: Parameters<typeof worker>[2]["client"] = {
      ...door,
      activate: async (request) => {
        polls += 1;
        if (polls < 3) throw new TypeError("fetch failed");
        return door.activate(request);
      },
      completeTask: async (...args) => {
        reports += 1;
        await door.completeTask(...args);
        if (reports === 1) throw new TypeError("the answer was lost");
        return {};
      },
    };
    hire("charge", () => ({ paid: true }), {
      client,
      onTrouble: (about) => troubles.push(about),
    });

    const { instanceId } = await engine.start("p");
    await engine.result(instanceId);
    for (const hired of workers) await hired.stop();

    expect(reports).toBe(2);
    expect(troubles).toHaveLength(3);
  });
});

describe("two hundred workers", () => {
  test("compete for a thousand tasks, half of them vanish, and every task completes once", async () => {
    const engine = await anEngine({ source });
    const ids = Array.from({ length: 1_000 }, (_, n) => `i${n}`);
    await Promise.all(ids.map((instanceId) => engine.start("p", { instanceId })));
    const done = new Map<string, number>();
    const work = async (n: number) => {
      const request = { type: "charge", max: 1 + (n % 5), lockSeconds: 3_600, worker: `w${n}` };
      for (let empty = 0; empty < 3; ) {
        const { tasks } = await engine.activate(request);
        empty = tasks.length === 0 ? empty + 1 : 0;
        // Every second one locks tasks and is never seen again.
        if (n % 2 === 1 && tasks.length > 0) return;
        for (const { taskId, lockToken } of tasks) {
          await engine.complete(taskId, { lockToken });
          done.set(taskId, (done.get(taskId) ?? 0) + 1);
        }
      }
    };
    const crew = Array.from({ length: 200 }, (_, n) => n);

    await Promise.all(crew.map(work));
    await engine.advanceClock("PT61M");
    await Promise.all(crew.filter((n) => n % 2 === 0).map(work));

    expect(done.size).toBe(1_000);
    expect([...done.values()].every((times) => times === 1)).toBe(true);
    expect((await engine.list({ status: "succeeded", limit: 1 })).items).toHaveLength(1);
    expect((await engine.definition("p")).live).toEqual({ count: 0, more: false });
  });
});
