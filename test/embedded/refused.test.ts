import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type EmbeddedEngine,
  type EmbeddedOptions,
  serveEngine,
} from "../../lib/embedded/index.ts";
import {
  end,
  extensions,
  file,
  flow,
  job,
  sequence,
  service,
  start,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

const NAMES = Array.from({ length: 20 }, (_, n) => `refused-${n}`);

describe("a call refused because the disk is full", () => {
  test("has no effect: 20 of 20 starts through the library", async () => {
    const { engine, ran, makeRoom } = await aFullEngine();

    const answers = await Promise.allSettled(
      NAMES.map((instanceId) => engine.start("p", { instanceId })),
    );
    await makeRoom();

    for (const answer of answers) {
      expect(answer).toMatchObject({ status: "rejected", reason: { code: "store/disk-full" } });
    }
    for (const id of NAMES) {
      await expect(engine.get(id)).rejects.toMatchObject({ code: "instance/not-found" });
    }
    expect(ran).toEqual([]);
  });

  test("has no effect: 20 of 20 starts through HTTP", async () => {
    const { engine, ran, makeRoom } = await aFullEngine();
    const { url, close } = await serveEngine(engine, { port: 0 });
    onTestFinished(close);

    const answers = await Promise.all(
      NAMES.map((instanceId) => post(`${url}/v1/definitions/p/instances`, { instanceId })),
    );
    await makeRoom();

    for (const answer of answers) expect(answer).toMatchObject({ code: "store/disk-full" });
    for (const id of NAMES) {
      await expect(engine.get(id)).rejects.toMatchObject({ code: "instance/not-found" });
    }
    expect(ran).toEqual([]);
  });

  test("has no effect: 20 of 20 completions", async () => {
    const waiting = NAMES.map((instanceId) => ({ instanceId }));
    const { engine, ran, makeRoom } = await aFullEngine(waiting);
    const { items } = await engine.tasks({ type: "outside" });
    expect(items).toHaveLength(20);

    const answers = await Promise.allSettled(
      items.map(({ taskId }) => engine.complete(taskId, { variables: { big: BIG } })),
    );
    await makeRoom();

    for (const answer of answers) {
      expect(answer).toMatchObject({ status: "rejected", reason: { code: "store/disk-full" } });
    }
    expect((await engine.tasks({ type: "outside" })).items).toHaveLength(20);
    expect(ran).toEqual([]);
  });
});

const filler = file(
  xml("process", { id: "filler", isExecutable: "true" }, start(), end(), flow("f", "start", "end")),
);
const outsideFirst = file(
  xml(
    "process",
    { id: "q", isExecutable: "true" },
    start(),
    xml("serviceTask", { id: "ask" }, extensions(job("outside"))),
    service("then"),
    end(),
    flow("f1", "start", "ask"),
    flow("f2", "ask", "then"),
    flow("f3", "then", "end"),
  ),
);

/** Larger than any free page. */
const BIG = "x".repeat(20_000);

test("a handler whose outcome cannot be stored on a full disk runs once, and the log has one line", async () => {
  const troubles: string[] = [];
  const { promise: filled, resolve: release } = Promise.withResolvers<void>();
  const ran: string[] = [];
  const work = async (_: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
    ran.push(idempotencyKey);
    await filled;
    return { big: BIG };
  };
  const { engine, makeRoom } = await aFullEngine([], {
    tasks: { work },
    onTrouble: (message) => troubles.push(message),
    before: (early) => Promise.all(NAMES.map((instanceId) => early.start("p", { instanceId }))),
  });
  const { commits } = engine.counters();
  release();

  const tries = () => engine.counters().commits - commits;
  await expect.poll(tries, { timeout: 30_000 }).toBeGreaterThan(2 * NAMES.length);
  await makeRoom();

  expect(troubles).toHaveLength(1);
  expect(troubles[0]).toContain("store/disk-full");
  expect(ran).toHaveLength(20);
  for (const id of NAMES) expect((await engine.get(id)).status).toBe("succeeded");
});

/** An engine whose disk is full, until space is freed. */
async function aFullEngine(
  waiting: readonly Readonly<{ instanceId: string }>[] = [],
  {
    before,
    ...options
  }: Partial<EmbeddedOptions> &
    Readonly<{ before?: (engine: EmbeddedEngine) => Promise<unknown> }> = {},
) {
  const ran: string[] = [];
  const tasks = {
    work: (_: unknown, { instanceId }: { instanceId: string }) => {
      ran.push(instanceId);
      return {};
    },
  };
  const dataDir = aDataDir();
  const engine = await anEngine({ dataDir, clock: "real", tasks, maxPages: 400, ...options });
  await engine.deploy(sequence(service("work")));
  await engine.deploy(outsideFirst);
  await engine.deploy(filler);
  for (const { instanceId } of waiting) await engine.start("q", { instanceId });
  await before?.(engine);
  await fill(engine);
  const makeRoom = async () => {
    // As if another program had freed space on this disk.
    const other = new DatabaseSync(join(dataDir, "store.db"));
    other.exec("DELETE FROM items WHERE pk LIKE '%filler-%'");
    other.close();
    await engine.idle();
  };
  return { engine, ran, makeRoom };
}

/** Uses up all space, to the last page. */
async function fill(engine: EmbeddedEngine): Promise<void> {
  for (const size of [100_000, 4_000, 10]) {
    for (let n = 0, isFull = false; !isFull; n++) {
      const request = { instanceId: `filler-${size}-${n}`, variables: { big: "x".repeat(size) } };
      isFull = await engine.start("filler", request).then(
        () => false,
        () => true,
      );
    }
  }
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return answer.json();
}
