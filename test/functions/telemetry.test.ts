import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { observed } from "../../functions/observed-world.ts";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Observation, World } from "../../lib/engine/world.ts";
import type { Instance } from "../../lib/kernel/instance.ts";
import { catching, extensions, job, sequence, service, timer, xml } from "../support/bpmn-xml.ts";
import { aPlainWorld } from "../support/plain-world.ts";
import { HeardTelemetry } from "../support/queue-events.ts";

describe("a world with telemetry", () => {
  test("counts commits with a conflict, an unknown outcome or a busy store", async () => {
    const { world, telemetry } = anObservedWorld();
    const item = { key: { pk: "a", sk: "b" }, version: 1, body: new Uint8Array() };

    await world.store.commit([{ put: item, when: "absent" }]);
    await world.store.commit([{ put: item, when: "absent" }]);

    expect(telemetry.measured).toEqual({ Conflicts: [1] });
  });

  test("counts parked facts", async () => {
    const { world, telemetry } = anObservedWorld();

    await world.parking.park({ kind: "owed", tenant: "default", instanceId: "a", name: "x" });

    expect(telemetry.measured).toEqual({ Parked: [1] });
  });

  test.each<[Observation, HeardTelemetry["measured"]]>([
    [{ kind: "taken-over", instanceId: "a", name: "k1.1/1" }, { TakenOver: [1] }],
    [{ kind: "left-to-owner", instanceId: "a" }, { NackOwn: [1] }],
    [{ kind: "fenced", instanceId: "a" }, { NackFence: [1] }],
    [{ kind: "outcome-parked", instanceId: "a" }, { OutcomesParked: [1] }],
    [{ kind: "swept", lateMs: 75_000 }, { LookAtLag: [75_000] }],
    [
      { kind: "page-delivered", broadcastId: "b", matched: 3, ms: 40 },
      { BroadcastMatched: [3], BroadcastDuration: [40] },
    ],
    [{ kind: "message-kept", depth: 2 }, { MailboxDepth: [2] }],
  ])("measures what is $kind", (observation, measured) => {
    const { world, telemetry } = anObservedWorld();

    world.observe?.(observation);

    expect(telemetry.measured).toEqual(measured);
    expect(telemetry.apart).toEqual([]);
  });

  test("distinguishes messages without effect, as the engine observed them", async () => {
    const { world: host, telemetry } = anObservedWorld();
    const { observe } = host;
    const world = aPlainWorld({ tasks: { work: () => ({}) }, ...(observe && { observe }) });
    await world.engine.deploy({ notation: "bpmn", source: sequence(service("work")) });
    await world.engine.start("p", { instanceId: "one" });
    world.queued.push(...world.queued);

    await world.drain();

    expect(telemetry.apart).toEqual([{ metric: "StaleFacts", dimensions: { kind: "task" } }]);
  });

  test("reads due entries from the store like its engine", async () => {
    const { world } = anObservedWorld();
    const item = { key: { pk: "a", sk: "b" }, version: 1, body: new Uint8Array() };
    await world.store.commit([{ put: { ...item, lookAt: instantFrom(5) }, when: "absent" }]);
    const due = (from: number) =>
      world.store.due(instantFrom(1e9), { index: 0, of: 1 }, undefined, instantFrom(from));

    expect([(await due(0)).items.length, (await due(6e8)).items.length]).toEqual([1, 0]);
  });

  test("logs incidents once, by their instance", async () => {
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
  test("consists of JSON lines with named fields, and metrics that CloudWatch reads", async () => {
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

  test("has the metrics of a function that failed, and the reason", async () => {
    const lines = await logOf(`
      telemetry.measure("Steps", 1);
      throw new Error("boom");
    `);

    expect(lines).toMatchObject([
      { level: "ERROR", message: "function-failed", error: { message: "boom" } },
      { Steps: 1 },
    ]);
  });

  test("has a separate line for metrics with their own dimensions", async () => {
    const [apart, others] = await logOf(`
      telemetry.measure("StaleFacts", 1, { kind: "timer-due" });
      telemetry.measure("Steps", 1);
    `);

    expect(apart).toMatchObject({
      service: "fire-timer",
      kind: "timer-due",
      StaleFacts: 1,
      _aws: { CloudWatchMetrics: [{ Dimensions: [["service", "kind"]] }] },
    });
    expect(others).not.toHaveProperty("kind");
  });

  test("is empty if there is nothing to report", async () => {
    expect(await logOf("")).toEqual([]);
  });
});

/** What a function with this code prints, line by line; its failure is not reported otherwise. */
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

/** The commits of an instance that is started and continued. */
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
