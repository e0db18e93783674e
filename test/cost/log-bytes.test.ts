import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { LOG_BYTES } from "../../lib/cost/assumptions.ts";

/** What CloudWatch adds to every line, and bills. */
const LINE_OVERHEAD_BYTES = 26;

describe("the bytes that an invocation is assumed to log", () => {
  test.each([1, 10])("are those of its metrics line, with %i steps", async (steps) => {
    const line = await metricsOf(steps);

    const bytes = Buffer.byteLength(line) + LINE_OVERHEAD_BYTES;
    expect(line).toContain('"Steps"');
    expect(bytes).toBeLessThanOrEqual(LOG_BYTES.invocation);
    expect(bytes).toBeGreaterThan(LOG_BYTES.invocation * 0.85);
  });
});

/** Everything that a function prints after this many steps without failures. */
async function metricsOf(steps: number): Promise<string> {
  const program = `
    import { powertools } from "./functions/middleware/powertools.ts";
    const namespace = "Fermata/FermataFermataA1B2C3D4";
    const telemetry = powertools({ service: "run-work", namespace });
    const handler = telemetry.told(async () => {
      telemetry.measure("ReadUnits", 1);
      for (let step = 0; step < ${steps}; step++) {
        telemetry.measure("WriteUnits", 1);
        telemetry.measure("Steps", 1);
        telemetry.log("debug", "step-committed", { instanceId: "one" });
      }
      telemetry.measure("StepLatency", ${26 * steps});
    });
    await handler({}, { awsRequestId: "r1", functionName: "f", getRemainingTimeInMillis: () => 1000 });
  `;
  const args = ["--input-type=module", "--eval", program];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  return `${stderr}${stdout}`;
}
