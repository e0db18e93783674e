import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tenTasks } from "../cost/workflows.ts";
import { say } from "./recording-terminal.ts";

describe("fermata cost", () => {
  const folder = mkdtempSync(join(tmpdir(), "fermata-cost-"));
  const ten = join(folder, "ten.bpmn");

  beforeAll(() => writeFileSync(ten, tenTasks()));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("prints the bill by service, and the prices of other engines", async () => {
    const said = await say(["cost", ten], { isInteractive: true });

    expect(said).toMatchObject({ exitCode: 0, errors: [] });
    const bill = said.out.join("\n");
    expect(bill).toMatch(/ten, inline, 10 steps per instance/);
    expect(bill).toMatch(/us-east-1, \d{4}-\d{2}-\d{2}/);
    expect(bill).toMatch(/DynamoDB writes +14 +0\.875\n/);
    expect(bill).toMatch(/marginal.* 0\.8\d\d\n/);
    expect(bill).toMatch(/in addition: CloudWatch logs, bytes +1250 +0\.062\n/);
    expect(bill).toMatch(/Step Functions Standard +10 transitions, 10 invocations +25\.267\n/);
    expect(bill).toMatch(/Lambda durable functions +.* 9\.19\d\n/);
  });

  test("prints the same as JSON", async () => {
    const said = await say(["cost", ten, "--mode", "queued", "--instances", "2", "--json"]);

    expect(said.out).toHaveLength(1);
    expect(JSON.parse(said.out[0] ?? "")).toMatchObject({
      kind: "counted",
      process: "ten",
      mode: "queued",
      instances: 2,
      counts: { steps: 10 },
    });
  });

  test("runs the given handlers", async () => {
    const tasks = mkdtempSync(join(folder, "tasks-"));
    const retried =
      "let runs = 0; export default () => { if (runs++ % 10 === 0) throw new Error('no'); return {}; };";
    writeFileSync(join(tasks, "work.mjs"), retried);

    const said = await say(["cost", ten, "--tasks", tasks, "--instances", "1", "--json"]);

    const { counts } = JSON.parse(said.out[0] ?? "");
    expect(counts.attempts).toBeGreaterThan(10);
    expect(counts.states).toBe(counts.attempts);
  });

  test("reports what is wrong with a file", async () => {
    const broken = join(folder, "broken.bpmn");
    writeFileSync(broken, tenTasks().replace('type="work"', ""));

    const said = await say(["cost", broken]);

    expect(said).toMatchObject({ exitCode: 1, out: [] });
    expect(said.errors.join()).toMatch(/broken\.bpmn:\d+ .*"step-1".*\[bpmn\//);
  });

  test("reports why the cost of a workflow cannot be computed", async () => {
    const said = await say(["cost", ten, "--process", "eleven"]);

    expect(said).toMatchObject({ exitCode: 1, out: [] });
    expect(said.errors.join()).toMatch(/cannot be counted: "eleven" is no process here/);
  });

  test("refuses options that make no sense", async () => {
    expect(await say(["cost", ten, "--mode", "fast"])).toMatchObject({ exitCode: 2 });
    expect(await say(["cost", ten, "--instances", "0"])).toMatchObject({ exitCode: 2 });
    expect(await say(["cost", join(folder, "none.bpmn")])).toMatchObject({ exitCode: 2 });
  });
});
