import { describe, expect, test } from "vitest";
import { LOG_BYTES } from "../../lib/cost/assumptions.ts";
import { type CostReport, type CostRequest, estimateCost } from "../../lib/cost/estimate-cost.ts";
import { PRICES } from "../../lib/cost/prices.ts";
import {
  aMessage,
  aSignal,
  catching,
  onMessage,
  onSignal,
  sequence,
  service,
  timer,
} from "../support/bpmn-xml.ts";
import { inARow, tenTasks } from "./workflows.ts";

async function counted(request: CostRequest): Promise<Extract<CostReport, { kind: "counted" }>> {
  const report = await estimateCost(request);
  if (report.kind !== "counted") throw new Error(JSON.stringify(report));
  return report;
}

describe("ten tasks in a row", () => {
  // What the state may hold besides: with the largest of these it is just within a kilobyte.
  const notes = [0, 200, 400].map((length) => ({ orderId: "A-1234", note: "x".repeat(length) }));

  test.each(notes)("cost at most 0.95 per million more steps in place (%#)", async (variables) => {
    const { bill, stateBytes } = await counted({ source: tenTasks(), variables });

    expect(stateBytes).toBeLessThanOrEqual(1_024);
    expect(bill.marginal).toBeLessThanOrEqual(0.95);
    expect(bill.allIn).toBeLessThanOrEqual(1.25);
  });

  test.each(notes)(
    "cost at most 2.50 per million more steps through a queue (%#)",
    async (variables) => {
      const { bill } = await counted({ source: tenTasks(), mode: "queued", variables });

      expect(bill.marginal).toBeLessThanOrEqual(2.5);
      expect(bill.allIn).toBeLessThanOrEqual(2.75);
    },
  );

  test("cost 25.27 and 9.19 on other services", async () => {
    const { peers } = await counted({ source: tenTasks(), instances: 1 });

    expect(peers.map(({ name, perMillionSteps }) => [name, perMillionSteps.toFixed(2)])).toEqual([
      ["Step Functions Standard", "25.27"],
      ["Lambda durable functions", "9.19"],
    ]);
  });

  test("are billed by service, and the lines add up", async () => {
    const { bill, perMillionInstances, counts, instances } = await counted({ source: tenTasks() });

    const total = bill.lines.reduce((sum, { perMillionSteps }) => sum + perMillionSteps, 0);
    expect(total).toBeCloseTo(bill.allIn + bill.door, 9);
    const withLogs = total + bill.logs.perMillionSteps;
    expect(perMillionInstances).toBeCloseTo(withLogs * counts.steps, 9);
    expect(bill.lines.find(({ service }) => service === "HTTP API")).toEqual({
      service: "HTTP API",
      units: instances,
      perMillionSteps: PRICES.httpApiRequests / 10,
    });
  });
});

describe("the logs", () => {
  test("are billed separately, by the bytes of each invocation and each call", async () => {
    const { bill, counts, instances } = await counted({ source: tenTasks(), mode: "queued" });

    const invocations = bill.lines.find(({ service }) => service === "Lambda invocations");
    const bytes = LOG_BYTES.invocation * (invocations?.units ?? 0) + LOG_BYTES.call * instances;
    expect(bill.logs.units).toBe(bytes);
    const dollars = (bytes / 2 ** 30) * (PRICES.logsGb + PRICES.logsGbMonth);
    const steps = counts.steps * instances;
    expect(bill.logs.perMillionSteps).toBeCloseTo((dollars / steps) * 1_000_000, 9);
    expect(bill.lines.map(({ service }) => service)).not.toContain("CloudWatch logs");
  });
});

describe("a cost", () => {
  test("covers days of waiting, signals and messages", async () => {
    const source = inARow(
      "waits",
      [
        service("a"),
        catching("days", timer("timeDuration", "P3D")),
        catching("go", onSignal("sig")),
        catching("paid", onMessage("msg")),
      ],
      aSignal("sig"),
      aMessage("msg", { key: '="k"' }),
    );

    const { counts, bill } = await counted({ source, instances: 2 });

    expect(counts).toEqual({ steps: 4, attempts: 1, waits: 3, states: 4 });
    expect(bill.lines.map(({ service, units }) => [service, units])).toEqual(
      expect.arrayContaining([
        ["EventBridge Scheduler", 2],
        ["EventBridge bus", 2],
        ["HTTP API", 6],
      ]),
    );
  });

  test("does not depend on how many instances are run", async () => {
    const few = await counted({ source: tenTasks(), instances: 2 });
    const many = await counted({ source: tenTasks(), instances: 20 });

    expect(many.bill.allIn).toBeCloseTo(few.bill.allIn, 2);
  });

  test("is refused for an invalid workflow, with every reason", async () => {
    const report = await estimateCost({ source: sequence('<serviceTask id="a" />') });

    expect(report).toMatchObject({
      kind: "refused",
      diagnostics: [{ code: "bpmn/task-without-type" }],
    });
  });

  test("cannot be computed for a workflow that does not end", async () => {
    const source = inARow(
      "waits",
      [catching("w", onMessage("msg"))],
      aMessage("msg", { key: "=missing" }),
    );

    expect(await estimateCost({ source })).toMatchObject({
      kind: "stuck",
      why: expect.stringContaining("missing"),
    });
  });

  test("cannot be computed for an unknown process", async () => {
    expect(await estimateCost({ source: tenTasks(), process: "eleven" })).toEqual({
      kind: "stuck",
      why: '"eleven" is no process here that a call can start',
    });
  });
});
