import { readFileSync } from "node:fs";
import { request } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { VERSION } from "../../lib/api/version.ts";
import { openEngine, type ServeOptions, serveEngine } from "../../lib/embedded/index.ts";
import { sequence, service } from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

async function aServer(options: ServeOptions = {}): Promise<string> {
  const server = await serveEngine(await anEngine(), { port: 0, ...options });
  onTestFinished(() => server.close());
  return server.url;
}

/** What `fetch` refuses to send: custom Host and Origin headers. */
function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/recover`, { method: "POST", headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.once("error", reject);
    sent.end();
  });
}

describe("the embedded server", () => {
  test("listens and answers before the engine has finished the work of an earlier process", async () => {
    const dataDir = aDataDir();
    const source = sequence(service("work"));
    const before = await anEngine({
      dataDir,
      source,
      tasks: { work: () => new Promise(() => {}) },
    });
    for (const instanceId of ["one", "two"]) await before.start("p", { instanceId });
    await before.close({ graceMs: 0 });
    const seen: string[] = [];

    const run = (_: unknown, { instanceId }: { instanceId: string }) => void seen.push(instanceId);
    const engine = await anEngine({ dataDir, tasks: { work: run } });
    const server = await serveEngine(engine, { port: 0 });
    onTestFinished(() => server.close());
    seen.push("listens");
    const cancelling = engine.cancel("two");

    expect(await engine.recovered).toMatchObject({ failed: 0 });
    expect(await cancelling).toEqual({ cancelled: true });
    await engine.idle();
    expect(seen[0]).toBe("listens");
    expect((await engine.result("one")).status).toBe("succeeded");
    expect((await engine.get("two")).status).toBe("cancelled");
  });

  test("on loopback needs no token, elsewhere it does not start without one", async () => {
    const url = await aServer();
    const engine = await anEngine();

    expect((await fetch(`${url}/v1/definitions`)).status).toBe(200);
    expect(() => serveEngine(engine, { host: "0.0.0.0", port: 0 })).toThrow(/token/);
  });

  test("with a token answers only requests that have it", async () => {
    const url = await aServer({ token: "s3cret" });
    const ask = (authorization?: string) =>
      fetch(`${url}/v1/definitions`, { headers: authorization ? { authorization } : {} });

    expect((await ask()).status).toBe(401);
    expect((await ask("Bearer wrong")).status).toBe(401);
    expect((await ask("Bearer s3cret")).status).toBe(200);
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
  });

  test("without a token does not answer web pages of other sites", async () => {
    const url = await aServer();

    expect(await statusWith(url, {})).toBe(200);
    expect(await statusWith(url, { origin: "http://localhost:3000" })).toBe(200);
    expect(await statusWith(url, { origin: "https://evil.example" })).toBe(403);
    expect(await statusWith(url, { origin: "null" })).toBe(403);
    expect(await statusWith(url, { host: "evil.example:7373" })).toBe(403);
  });

  test("reports that its port is in use", async () => {
    const { port } = new URL(await aServer());
    const engine = await anEngine();

    const second = serveEngine(engine, { port: Number(port) });

    await expect(second).rejects.toMatchObject({ code: "engine/misconfigured" });
  });

  test("reports its version, which is the package's", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));

    const health = await (await fetch(`${await aServer()}/v1/health`)).json();

    expect(VERSION).toBe(version);
    expect(health).toMatchObject({ status: "ok", version });
  });
});

describe("a response of 503", () => {
  test("is logged with its route and code, and reveals no internals to the caller", async () => {
    const dataDir = aDataDir();
    const engine = await openEngine({ dataDir, clock: "virtual" });
    const heard: unknown[] = [];
    const server = await serveEngine(engine, {
      port: 0,
      onUnexpected: (...failure) => heard.push(failure),
    });
    onTestFinished(() => server.close());
    await engine.close();

    const answer = await fetch(`${server.url}/v1/instances/one`);
    const body = await answer.text();

    expect(answer.status).toBe(503);
    const { code, errorId } = JSON.parse(body);
    const about = { status: 503, code, route: "GET /v1/instances/{instanceId}" };
    expect(heard).toEqual([[errorId, expect.objectContaining({ code }), about]]);
    expect(body).not.toContain(dataDir);
  });
});

describe("a full disk", () => {
  test("refuses new work with a clear error and keeps what was acknowledged", async () => {
    const dataDir = aDataDir();
    const source = readFileSync("test/fixtures/bpmn/order.bpmn", "utf8");
    const filled = await openEngine({ dataDir, clock: "virtual", maxPages: 60 });
    await filled.deploy(source);
    const [definition] = (await filled.definitions()).items;
    const acknowledged: string[] = [];
    const variables = { big: "x".repeat(3_000) };

    const refused = await fill();
    await filled.close();
    const after = await openEngine({ dataDir, clock: "virtual" });
    onTestFinished(() => after.close());

    expect(refused).toMatchObject({ code: "store/disk-full", retryable: true });
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const id of acknowledged) expect((await after.get(id)).variables).toMatchObject(variables);
    await expect(after.start(definition?.id ?? "", { variables })).resolves.toBeDefined();

    async function fill(): Promise<unknown> {
      for (let n = 0; n < 1_000; n++) {
        try {
          const instanceId = `i${n}`;
          await filled.start(definition?.id ?? "", { instanceId, variables });
          acknowledged.push(instanceId);
        } catch (error) {
          return error;
        }
      }
      return "never full";
    }
  });
});
