import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type EngineError, serveEngine } from "../../lib/embedded/index.ts";
import { sequence, service } from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

test("an engine whose folder is removed acknowledges nothing more, stops and says why", async () => {
  const dataDir = aDataDir();
  const stopped = Promise.withResolvers<EngineError>();
  const source = sequence(service("work"));
  const engine = await anEngine({ dataDir, source, onStopped: stopped.resolve });
  await engine.start("p", { instanceId: "before" });
  rmSync(dataDir, { recursive: true });

  const answers = await Promise.allSettled([engine.start("p"), engine.start("p")]);

  for (const answer of answers) {
    expect(answer).toMatchObject({
      status: "rejected",
      reason: { code: "engine/outcome-unknown" },
    });
  }
  const removed = { code: "store/files-removed" };
  expect(await stopped.promise).toMatchObject(removed);
  await expect(engine.start("p")).rejects.toMatchObject(removed);
  await expect(engine.get("before")).rejects.toMatchObject(removed);
  await engine.close();
});

test("an idle engine notices by itself", async () => {
  const dataDir = aDataDir();
  const stopped = Promise.withResolvers<EngineError>();
  await anEngine({ dataDir, onStopped: stopped.resolve });
  rmSync(dataDir, { recursive: true });

  expect((await stopped.promise).message).toContain("owner.lock was removed or replaced");
});

test.each(["store.db", "store.db-wal"])(
  "an engine under which %s is truncated notices by itself and stops",
  async (name) => {
    const dataDir = aDataDir();
    const stopped = Promise.withResolvers<EngineError>();
    const source = sequence(service("work"));
    const engine = await anEngine({ dataDir, source, onStopped: stopped.resolve });
    await engine.start("p", { instanceId: "before" });
    await engine.idle();
    truncateSync(join(dataDir, name));

    expect((await stopped.promise).message).toContain(`${name} was truncated`);
    expect(() => engine.checkRunning()).toThrow("was truncated");
    await expect(engine.start("p")).rejects.toMatchObject({ code: "store/files-removed" });
  },
);

test("the server of an engine that has stopped is unhealthy", async () => {
  const dataDir = aDataDir();
  const stopped = Promise.withResolvers<EngineError>();
  const engine = await anEngine({ dataDir, onStopped: stopped.resolve });
  const server = await serveEngine(engine, { port: 0 });
  onTestFinished(() => server.close());
  const health = () => fetch(`${server.url}/v1/health`);
  expect((await health()).status).toBe(200);
  rmSync(dataDir, { recursive: true });
  await stopped.promise;

  const answer = await health();

  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ code: "store/files-removed" });
});

test("and stays unhealthy while it is closed", async () => {
  const dataDir = aDataDir();
  const stopped = Promise.withResolvers<EngineError>();
  const engine = await anEngine({ dataDir, onStopped: stopped.resolve });
  rmSync(dataDir, { recursive: true });
  await stopped.promise;
  await engine.close();

  expect(() => engine.checkRunning()).toThrow("was removed or replaced");
});
