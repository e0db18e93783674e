import { describe, expect, onTestFinished, test } from "vitest";
import { type EngineError, serveEngine } from "../../lib/embedded/index.ts";
import { file, person } from "../support/bpmn-xml.ts";
import { line, working } from "../support/call-xml.ts";
import { damageItem, damagePage } from "../support/damage.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

const WORK = { type: "elsewhere", max: 10, lockSeconds: 600, worker: "w" };
const flip = (body: Uint8Array): Uint8Array => body.with(0, (body[0] ?? 0) ^ 4);

/** Two instances at a worker task and two at a user task; then one item is damaged. */
async function aFolder(pk: string): Promise<string> {
  const dataDir = aDataDir();
  const engine = await anEngine({ dataDir });
  await engine.deploy(file(line("outside", [working("elsewhere")])));
  await engine.deploy(file(line("somebody", [person("approve")])));
  for (const id of ["a", "b"]) {
    await engine.start("outside", { instanceId: id });
    await engine.start("somebody", { instanceId: `person-${id}` });
  }
  await engine.close({ graceMs: 0 });
  await damageItem(dataDir, pk, flip);
  return dataDir;
}

type Answer = Readonly<{ status: number; body: Readonly<Record<string, unknown>> }>;
type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

async function aServer(pk: string): Promise<Ask> {
  const server = await serveEngine(await anEngine({ dataDir: await aFolder(pk) }), { port: 0 });
  onTestFinished(() => server.close());
  return async (method, path, body) => {
    const headers = { "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers };
    const answer = await fetch(`${server.url}/v1${path}`, { method, ...sent });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
}

/** Which instances a list or a poll names. */
function named({ status, body }: Answer, list = "items"): readonly unknown[] {
  expect(status).toBe(200);
  return (body[list] as readonly { instanceId: string }[]).map((it) => it.instanceId).sort();
}

describe("the embedded server on a folder with one flipped bit", () => {
  test("R17 lists, offers and recovers everything but the damaged instance", async () => {
    const ask = await aServer("default#I#a");

    expect(named(await ask("GET", "/tasks"))).toEqual(["b", "person-a", "person-b"]);
    expect(named(await ask("GET", "/tasks?type=elsewhere"))).toEqual(["b"]);
    expect(named(await ask("POST", "/tasks/activate", WORK), "tasks")).toEqual(["b"]);
    expect(named(await ask("GET", "/instances"))).toEqual(["b", "person-a", "person-b"]);
    expect(await ask("POST", "/recover/all")).toMatchObject({
      status: 200,
      body: { unreadable: 1, failed: 0 },
    });
    expect(await ask("GET", "/instances/a")).toMatchObject({
      status: 500,
      body: { code: "store/corrupt" },
    });
  });

  test("R17 does so for a user task, a worker's row and a task type", async () => {
    const person = await aServer("default#I#person-a");
    const row = await aServer("default#J#elsewhere#0");
    const type = await aServer("default#J#elsewhere");

    expect(named(await person("GET", "/tasks?state=created"))).toEqual(["person-b"]);
    expect(named(await row("POST", "/tasks/activate", WORK), "tasks")).toEqual(["b"]);
    expect(named(await row("GET", "/tasks"))).toEqual(["b", "person-a", "person-b"]);
    expect(named(await type("POST", "/tasks/activate", WORK), "tasks")).toEqual(["a", "b"]);
  });

  test("R17 does so for a definition: the others are listed and started", async () => {
    const ask = await aServer("default#D#outside");
    const { status, body } = await ask("GET", "/definitions");

    expect(status).toBe(200);
    expect(body.items).toMatchObject([{ id: "somebody" }]);
    expect((await ask("POST", "/definitions/somebody/instances", {})).status).toBe(201);
    expect(await ask("GET", "/definitions/outside")).toMatchObject({
      status: 500,
      body: { code: "store/corrupt" },
    });
  });
});

describe("the embedded server on a folder whose database file is damaged", () => {
  test("R17 stops at the first call that finds it, refuses all others and is unhealthy", async () => {
    const dataDir = aDataDir();
    await fill(dataDir);
    damagePage(dataDir, "table leaf");
    const stopped = Promise.withResolvers<EngineError>();
    const engine = await anEngine({ dataDir, clock: "real", onStopped: stopped.resolve });
    const server = await serveEngine(engine, { port: 0 });
    onTestFinished(() => server.close());

    const damaged = { code: "store/corrupt" };

    await expect(engine.list({ limit: 100 })).rejects.toMatchObject(damaged);

    expect(await stopped.promise).toMatchObject(damaged);
    await expect(engine.start("somebody")).rejects.toMatchObject(damaged);
    await expect(engine.get("i99")).rejects.toMatchObject(damaged);
    for (const path of ["/v1/health", "/v1/instances"]) {
      const answer = await fetch(`${server.url}${path}`);
      expect(answer.status, path).toBe(503);
      expect(await answer.json()).toMatchObject(damaged);
    }
  });
});

/** Starts enough instances to fill many pages. */
async function fill(dataDir: string): Promise<void> {
  const engine = await anEngine({ dataDir, clock: "real" });
  await engine.deploy(file(line("somebody", [person("approve")])));
  const ids = Array.from({ length: 100 }, (_, n) => `i${n}`);
  await Promise.all(ids.map((instanceId) => engine.start("somebody", { instanceId })));
  await engine.close({ graceMs: 0 });
}
