import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { observed } from "../../functions/observed-world.ts";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { World } from "../../lib/engine/world.ts";
import type { Instance } from "../../lib/kernel/instance.ts";
import { catching, extensions, job, sequence, timer, xml } from "../support/bpmn-xml.ts";
import { aPlainWorld } from "../support/plain-world.ts";
import { HeardTelemetry } from "../support/queue-events.ts";

describe("a world that is observed", () => {
  test("counts commits that did not go as planned", async () => {
    const { world, telemetry } = anObservedWorld();
    const item = { key: { pk: "a", sk: "b" }, version: 1, body: new Uint8Array() };

    await world.store.commit([{ put: item, when: "absent" }]);
    await world.store.commit([{ put: item, when: "absent" }]);

    expect(telemetry.measured).toEqual({ Conflicts: [1] });
  });

  test("counts what is parked", async () => {
    const { world, telemetry } = anObservedWorld();

    await world.parking.park({ kind: "owed", tenant: "default", instanceId: "a", name: "x" });

    expect(telemetry.measured).toEqual({ Parked: [1] });
  });

  test("tells of incidents once, by their instance", async () => {
    const { world, telemetry } = anObservedWorld();
    const failing = sequence(
      xml("serviceTask", { id: "work" }, extensions(job("work", { retries: "1" }))),
    );
    const commits = await commitsOf(failing, async ({ engine, queued }) => {
      const [task] = queued.splice(0);
      if (task) await engine.giveUp(task, { id: "x", until: instantFrom(0), mayContinue: false });
      await engine.cancel("one");
    });

    for (const [n, commit] of commits.entries()) world.onCommitted?.(commit, commits[n - 1]);

    expect(telemetry.measured.Incidents).toEqual([1]);
    expect(telemetry.measured.Steps).toHaveLength(commits.length);
    expect(telemetry.lines.find(({ name }) => name === "incident-raised")).toMatchObject({
      fields: { instanceId: "one", element: "work" },
    });
  });

  test("measures how late a timer was", async () => {
    const { world, telemetry, now } = anObservedWorld();
    const commits = await commitsOf(
      sequence(catching("wait", timer("timeDuration", "PT1M"))),
      async (plain) => {
        const ticket = plain.commits.at(-1)?.tickets[0]?.id ?? "";
        plain.moveTo(plain.now() + 61_500);
        await plain.engine.handle(
          { kind: "timer", tenant: "default", instanceId: "one", ticket },
          { id: "x", until: plain.now(), mayContinue: false },
        );
      },
    );

    now.set(commits.at(-1)?.lastNow ?? 0);
    for (const [n, commit] of commits.entries()) world.onCommitted?.(commit, commits[n - 1]);

    expect(telemetry.measured.TimerLateness).toEqual([1_500]);
  });
});

describe("the log of a function", () => {
  test("is lines of JSON with the names of things, and metrics that CloudWatch reads", async () => {
    const [line, metrics] = await logOf(`
      inTrace("00-${"a".repeat(32)}-${"b".repeat(16)}-01", () =>
        telemetry.log("warn", "left-alone", { instanceId: "order-1", error: new Error("away") }),
      );
      telemetry.measure("StepLatency", 12);
      telemetry.measure("StepLatency", 14);
    `);

    expect(line).toMatchObject({
      level: "WARN",
      message: "left-alone",
      service: "fire-timer",
      instanceId: "order-1",
      function_request_id: "r1",
      traceId: "a".repeat(32),
      error: { name: "Error", message: "away" },
    });
    expect(metrics).toMatchObject({
      service: "fire-timer",
      StepLatency: [12, 14],
      _aws: { CloudWatchMetrics: [{ Namespace: "Fermata" }] },
    });
  });

  test("has the metrics of a function that failed, and why it did", async () => {
    const lines = await logOf(`
      telemetry.measure("Steps", 1);
      throw new Error("boom");
    `);

    expect(lines).toMatchObject([
      { level: "ERROR", message: "function-failed", error: { message: "boom" } },
      { Steps: 1 },
    ]);
  });

  test("is empty where there is nothing to say", async () => {
    expect(await logOf("")).toEqual([]);
  });
});

/** What a function of this code prints, line by line; that it fails is not told otherwise. */
async function logOf(code: string): Promise<readonly unknown[]> {
  const program = `
    import { powertools } from "./functions/middleware/powertools.ts";
    import { inTrace } from "./functions/middleware/trace.ts";
    const telemetry = powertools({ service: "fire-timer", namespace: "Fermata" });
    const handler = telemetry.told(async () => { ${code} });
    const context = { awsRequestId: "r1", functionName: "f", getRemainingTimeInMillis: () => 1000 };
    await handler({}, context).catch(() => {});
  `;
  const args = ["--input-type=module", "--eval", program];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  const lines = `${stderr}${stdout}`.split("\n").filter((line) => line !== "");
  return lines.map((line): unknown => JSON.parse(line));
}

function anObservedWorld() {
  const telemetry = new HeardTelemetry();
  let at = 0;
  const parts: Partial<World> = {
    store: new SimulatedStore({}),
    parking: { park: async () => {} },
    clock: { now: () => instantFrom(at), pause: async () => {} },
  };
  const world = observed(parts as World, telemetry);
  return {
    world,
    telemetry,
    now: {
      set: (ms: number) => {
        at = ms;
      },
    },
  };
}

/** The commits of an instance that is started and led on. */
async function commitsOf(
  source: string,
  lead: (world: ReturnType<typeof aPlainWorld>) => Promise<void>,
): Promise<readonly Instance[]> {
  const world = aPlainWorld({ tasks: { work: () => ({}) } });
  await world.engine.deploy({ notation: "bpmn", source });
  await world.engine.start("p", { instanceId: "one" });
  await lead(world);
  return world.commits;
}
