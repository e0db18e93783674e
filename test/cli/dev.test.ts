import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../lib/client/index.ts";
import { FermataProcess } from "./fermata-process.ts";

describe("fermata dev", { timeout: 30_000 }, () => {
  let folder: string;
  const started: FermataProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "fermata-cli-"));
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.end("SIGKILL")));
    rmSync(folder, { recursive: true });
  });

  function dev(...options: readonly string[]): FermataProcess {
    const data = ["--data", join(folder, "data")];
    const process = new FermataProcess("dev", "--port", "0", ...data, ...options);
    started.push(process);
    return process;
  }

  test("says once that it is ready, and shows the example's steps as they happen", async () => {
    const server = dev("--clock", "virtual");
    const client = createClient({ baseUrl: await server.url() });

    await server.line(/order-1 {2}grace-period entered/);
    await client.advanceClock("PT5S");

    await server.line(/order-1 {2}charge-card: attempt 1 failed: The payment provider/);
    await server.line(/order-1 waits at await-payment for somebody outside/);
    const call = await server.line(/^ {2}curl /);
    expect(call).toMatch(/\/v1\/tasks\/order-1\.\S+\/complete'/);
    expect(server.lines.filter((line) => line.startsWith("Fermata is ready at"))).toHaveLength(1);
    expect(server.lines.join("")).not.toContain("\u001b");
  });

  test("ends with 0 at SIGTERM, and goes on after a restart with a second example", async () => {
    const first = dev("--clock", "virtual");
    await first.line(/order-1 {2}grace-period entered/);
    const exitCode = await first.end("SIGTERM");

    const second = dev("--clock", "virtual");
    await second.line(/^Recovered from the last run: 1 live instance/);
    await second.line(/order-2 {2}started/);
    const client = createClient({ baseUrl: await second.url() });
    await client.advanceClock("PT5S");

    expect(exitCode).toBe(0);
    const { activeElements } = await client.get("order-1");
    expect(activeElements).toEqual(["await-payment"]);
  });

  test("without examples deploys nothing, and with --json speaks JSON", async () => {
    const server = dev("--no-examples", "--json");
    const ready: unknown = JSON.parse(await server.line(/"ready"/));
    const client = createClient({ baseUrl: await server.url() });

    expect(await client.definitions()).toEqual({ items: [] });
    expect(await server.end("SIGINT")).toBe(0);

    expect(ready).toMatchObject({ event: "ready", clock: "real", dataDir: join(folder, "data") });
  });

  test("refuses a folder that another process owns", async () => {
    const owner = dev("--no-examples");
    await owner.url();

    const second = dev("--no-examples");

    expect(await second.exitCode()).toBe(1);
    expect(second.errors.join()).toMatch(/data folder is in use by process \d+ .*folder-in-use/);
  });

  test("refuses a host that others can reach, unless there is a token", async () => {
    const open = dev("--no-examples", "--host", "0.0.0.0");

    expect(await open.exitCode()).toBe(1);
    expect(open.errors.join()).toMatch(/open to everyone .* Give it a token/);
  });

  test("names a task handler that cannot be used", async () => {
    writeFileSync(join(folder, "ship.mjs"), "export const run = 1;\n");

    const broken = dev("--no-examples", "--tasks", folder);

    expect(await broken.exitCode()).toBe(1);
    expect(broken.errors.join()).toMatch(/ship\.mjs: It has no default export\. Write/);
  });
});
