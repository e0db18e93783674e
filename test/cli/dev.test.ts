import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { createClient } from "../../lib/client/index.ts";
import { FermataProcess } from "./fermata-process.ts";
import { processOf } from "./process-of.ts";

const ONCE = 'import { once } from "node:events"; ';

describe.concurrent("fermata dev", () => {
  test("says once that it is ready, and shows the example's steps as they happen", async ({
    onTestFinished,
  }) => {
    const { dev } = temporaryHouse(onTestFinished);
    const server = dev("--clock", "virtual");
    const client = createClient({ baseUrl: await server.url() });

    await server.line(/approval-1 {2}approved-or-rejected entered/);
    await server.line(/^approval-1 waits at approved for the signal "request-approved"\./);
    await client.advanceClock("PT5S");
    await server.line(/approval-1 {2}send-reminder: task done/);
    const [, command] = (await server.line(/^ {2}fermata signal request-approved /)).split(
      "fermata ",
    );
    const approve = new FermataProcess(...(command?.split(" ") ?? []));

    expect(await approve.exitCode()).toBe(0);
    await server.line(/approval-1 {2}approved: signal received/);
    await server.line(/approval-1 {2}ended: succeeded/);
    expect(server.lines.filter((line) => line.startsWith("Fermata is ready at"))).toHaveLength(1);
    expect(server.lines.filter((line) => line.startsWith("Recovered"))).toEqual([]);
    expect(server.lines.join("")).not.toContain("\u001b");
  });

  test("shows a workflow in TypeScript beside the one in BPMN", async ({ onTestFinished }) => {
    const { dev } = temporaryHouse(onTestFinished);
    const server = dev("--clock", "virtual");
    const url = await server.url();
    const client = createClient({ baseUrl: url });

    await server.line(/^Examples in BPMN and in TypeScript start as approval-1 and checkout-1\./);
    await server.line(/checkout-1 {2}take-payment: task done/);
    await server.line(/^ {2}fermata event cancel-order --target checkout-1 /);
    await client.advanceClock("PT10S");
    await server.line(/checkout-1 {2}ship-parcel: task done/);
    await server.line(/checkout-1 {2}ended: succeeded/);
    const show = new FermataProcess("show", "checkout-1", "--url", url);

    expect(await show.exitCode()).toBe(0);
    expect(show.lines.find((line) => line.startsWith("input"))).toContain('"orderId":"1001"');
    expect(show.lines.at(-1)).toMatch(/^result +\{"status":"shipped","parcel":"parcel-1001"\}$/);
  });

  test("reports tasks without a handler, with the command that completes them", async ({
    onTestFinished,
  }) => {
    const { dev } = temporaryHouse(onTestFinished);
    const server = dev("--clock", "virtual");
    const client = createClient({ baseUrl: await server.url() });
    await server.line(/approval-1 {2}approved-or-rejected entered/);

    await client.start("order", { instanceId: "order-1", variables: { total: 740 } });
    await client.advanceClock("PT5S");

    await server.line(/order-1 {2}charge-card: attempt 1 failed: The payment provider/);
    await server.line(/^order-1 waits at await-payment for a task of the type "await-payment"/);
    const call = await server.line(/^ {2}curl /);
    expect(call).toMatch(/\/v1\/tasks\/order-1\.\S+\/complete'/);
  });

  test("ends with an error when its folder is removed", async ({ onTestFinished }) => {
    const { folder, dev } = temporaryHouse(onTestFinished);
    const server = dev("--no-examples");
    await server.url();

    rmSync(join(folder, "data"), { recursive: true });

    expect(await server.exitCode()).toBe(1);
    expect(server.errors.join("")).toContain("store/files-removed");
  });

  test("holds its folder until SIGTERM ends it with 0, then another process continues with it", async ({
    onTestFinished,
  }) => {
    const { dev } = temporaryHouse(onTestFinished);
    const first = dev("--clock", "virtual");
    await first.line(/checkout-1 {2}event:cancel-order entered/);
    const refused = dev("--no-examples");
    const refusedWith = await refused.exitCode();
    const endedWith = await first.end("SIGTERM");

    const second = dev("--clock", "virtual");
    await second.line(/^Recovered from the last run: 2 live instances/);
    await second.line(/approval-2 {2}approved-or-rejected entered/);
    const client = createClient({ baseUrl: await second.url() });
    const { deliveredCount } = await client.signal({ name: "request-approved" });

    expect(refusedWith).toBe(1);
    expect(refused.errors.join()).toMatch(/data folder is in use by process \d+ .*folder-in-use/);
    expect(endedWith).toBe(0);
    expect(deliveredCount).toBe(2);
    await second.line(/approval-1 {2}ended: succeeded/);
  });

  test("lets a running step finish at SIGTERM, and ends at once at the second", async ({
    onTestFinished,
  }) => {
    const { folder, dev } = temporaryHouse(onTestFinished);
    const atWork = 'console.log("at work");';
    writeFileSync(
      join(folder, "pay.mjs"),
      `${ONCE}export default async () => { ${atWork} await once(process, "SIGTERM"); };`,
    );
    writeFileSync(
      join(folder, "hang.mjs"),
      `${ONCE}export default async () => { ${atWork} await once(process, "nothing"); };`,
    );
    const run = async (taskType: string) => {
      const server = dev(
        "--no-examples",
        "--steps",
        "--tasks",
        folder,
        "--data",
        join(folder, taskType),
      );
      const client = createClient({ baseUrl: await server.url() });
      await client.deploy(processOf("p", taskType));
      await client.start("p", { instanceId: "p1" });
      await server.line(/^at work$/);
      return server;
    };
    const patient = await run("pay");
    const hanging = await run("hang");

    hanging.signal("SIGTERM");
    await hanging.line(/^Stopping on SIGTERM/);

    expect(await hanging.end("SIGTERM")).toBe(143);
    expect(await patient.end("SIGTERM")).toBe(0);
    expect(patient.lines.at(-1)).toMatch(/p1 {2}ended: succeeded$/);
  });

  test("without examples deploys nothing, and with --json prints JSON", async ({
    onTestFinished,
  }) => {
    const { folder, dev } = temporaryHouse(onTestFinished);
    const server = dev("--no-examples", "--json");
    const ready: unknown = JSON.parse(await server.line(/"ready"/));
    const client = createClient({ baseUrl: await server.url() });

    expect(await client.definitions()).toEqual({ items: [] });
    expect(await server.end("SIGINT")).toBe(0);

    expect(ready).toMatchObject({ event: "ready", clock: "real", dataDir: join(folder, "data") });
  });

  test("refuses a host that is reachable from outside, unless there is a token", async ({
    onTestFinished,
  }) => {
    const { dev } = temporaryHouse(onTestFinished);
    const open = dev("--no-examples", "--host", "0.0.0.0");

    expect(await open.exitCode()).toBe(1);
    expect(open.errors.join()).toMatch(/open to everyone .* Give it a token/);
  });

  test("takes workflows in code over HTTP on loopback, and elsewhere only when it is asked to", async ({
    onTestFinished,
  }) => {
    const { folder, dev } = temporaryHouse(onTestFinished);
    const statusOf = async (...options: readonly string[]) => {
      const own = join(folder, String(options.length));
      const server = dev("--no-examples", "--data", own, "--token", "t", ...options);
      const { port } = new URL(await server.url());
      const { status } = await fetch(`http://127.0.0.1:${port}/v1/definitions:validate-code`, {
        method: "POST",
        headers: { authorization: "Bearer t", "content-type": "application/javascript" },
        body: "1;",
      });
      return status;
    };

    const statuses = await Promise.all([
      statusOf(),
      statusOf("--host", "0.0.0.0"),
      statusOf("--host", "0.0.0.0", "--accept-code"),
    ]);

    expect(statuses).toEqual([200, 403, 200]);
  });

  test("keeps ended instances for the configured retention", async ({ onTestFinished }) => {
    const { dev } = temporaryHouse(onTestFinished);
    const server = dev("--clock", "virtual", "--retention", "P400D");
    const client = createClient({ baseUrl: await server.url() });
    await server.line(/approval-1 {2}approved-or-rejected entered/);
    await client.cancel("approval-1");

    await client.advanceClock("P365D");

    expect((await client.get("approval-1")).status).toBe("cancelled");
  });

  test("names a task handler that cannot be used", async ({ onTestFinished }) => {
    const { folder, dev } = temporaryHouse(onTestFinished);
    writeFileSync(join(folder, "ship.mjs"), "export const run = 1;\n");

    const broken = dev("--no-examples", "--tasks", folder);

    expect(await broken.exitCode()).toBe(1);
    expect(broken.errors.join()).toMatch(
      /ship\.mjs: It has no default export, and exports no step\. Write/,
    );
  });
});

/** A temporary folder, and a way to run engines in it; all of it is removed when the test ends. */
function temporaryHouse(onTestFinished: TestContext["onTestFinished"]) {
  const folder = mkdtempSync(join(tmpdir(), "fermata-cli-"));
  const started: FermataProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(started.map((process) => process.end("SIGKILL")));
    rmSync(folder, { recursive: true });
  });
  const dev = (...options: readonly string[]): FermataProcess => {
    const data = ["--data", join(folder, "data")];
    const process = new FermataProcess("dev", "--port", "0", ...data, ...options);
    started.push(process);
    return process;
  };
  return { folder, dev };
}
