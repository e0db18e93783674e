import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { variablesIn } from "../../../lib/definition/json.ts";
import { MAX_BULK_MS } from "../../../lib/definition/limits.ts";
import type { Engine } from "../../../lib/engine/engine.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const HOUR_MS = 3_600_000;

/** Tasks fail until `mended` is set; `start` leaves instances with an incident each. */
async function aWorld() {
  const store = new SimulatedStore({});
  const mended = new Set<string>();
  const world = aPlainWorld({
    store,
    handlers: {
      work: {
        timeoutMs: 1_000,
        isolate: false,
        exclusive: false,
        run: async (input) =>
          variablesIn(input).ok === true || mended.has("all")
            ? { kind: "completed", variables: {} }
            : { kind: "failed", message: "not yet", retries: 0 },
      },
    },
  });
  for (const id of ["p", "q"]) {
    const source = bpmn.sequence(bpmn.service("work")).replace('id="p"', `id="${id}"`);
    await world.engine.deploy({ notation: "bpmn", source });
  }
  const start = async (definition: string, ...ids: readonly string[]) => {
    for (const instanceId of ids) {
      await world.engine.start(definition, { instanceId, businessKey: `key of ${instanceId}` });
      await world.drain();
      world.moveTo(world.now() + 1_000);
    }
  };
  /** From now on each commit takes so long. */
  const slowDown = (ms: number) => {
    const commit = store.commit.bind(store);
    store.commit = async (writes) => {
      world.moveTo(world.now() + ms);
      return commit(writes);
    };
  };
  return { ...world, store, mended, start, slowDown };
}

const idsOf = (items: readonly Readonly<{ instanceId: string }>[]) =>
  items.map(({ instanceId }) => instanceId);

async function statusOf(engine: Engine, ...ids: readonly string[]) {
  const views = await Promise.all(ids.map((id) => engine.get(id)));
  return views.map(({ status }) => status);
}

/** A process of several tasks at once, each of which gets an incident; returns their ids. */
async function deployWide(engine: Engine): Promise<readonly string[]> {
  const tasks = ["t1", "t2", "t3", "t4", "t5"];
  const source = bpmn.file(
    bpmn.process(
      bpmn.start(),
      bpmn.xml("parallelGateway", { id: "fork" }),
      bpmn.flow("f", "start", "fork"),
      ...tasks.flatMap((id) => [
        bpmn.xml("serviceTask", { id }, bpmn.extensions(bpmn.job("work"))),
        bpmn.flow(`to-${id}`, "fork", id),
      ]),
    ),
  );
  await engine.deploy({ notation: "bpmn", source: source.replace('id="p"', 'id="wide"') });
  return tasks;
}

describe("a list of incidents", () => {
  test("shows their instances, the newest first", async () => {
    const { engine, start } = await aWorld();
    await start("p", "a");
    await start("q", "b");

    const { items } = await engine.incidents({}, { limit: 10 });

    expect(items).toMatchObject([
      { instanceId: "b", definition: { id: "q", version: 1 }, businessKey: "key of b" },
      { instanceId: "a", type: "JOB_NO_RETRIES", element: "work", message: "not yet" },
    ]);
  });

  test("takes filters, and continues after its cursor", async () => {
    const { engine, start } = await aWorld();
    await start("p", "a", "b", "c");
    await start("q", "d");

    const first = await engine.incidents({ definition: "p" }, { limit: 2 });
    const cursor = first.nextCursor ?? "";
    const second = await engine.incidents({ definition: "p" }, { limit: 2, cursor });

    expect([idsOf(first.items), idsOf(second.items)]).toEqual([["c", "b"], ["a"]]);
    expect((await engine.incidents({ type: "DEADLOCK" }, { limit: 2 })).items).toEqual([]);
    expect((await engine.incidents({ element: "no" }, { limit: 2 })).items).toEqual([]);
    expect(
      idsOf((await engine.incidents({ businessKey: "key of d" }, { limit: 2 })).items),
    ).toEqual(["d"]);
    await expect(engine.incidents({}, { limit: 2, cursor })).rejects.toMatchObject({
      code: "store/cursor-invalid",
    });
  });

  test("may end in the middle of an instance, and leaves none out", async () => {
    const { engine, drain } = await aWorld();
    const tasks = await deployWide(engine);
    await engine.start("wide", { instanceId: "w1" });
    await engine.start("wide", { instanceId: "w2" });
    await drain();

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.incidents({}, { limit: 2, ...(cursor && { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ instanceId, element }) => `${instanceId} ${element}`));
      cursor = page.nextCursor;
    } while (cursor !== undefined);

    const all = ["w1", "w2"].flatMap((id) => tasks.map((task) => `${id} ${task}`));
    expect(seen.toSorted()).toEqual(all);
  });
});

describe("resolving incidents in bulk", () => {
  test("is a dry run by default: it lists the matches and does nothing", async () => {
    const { engine, start, queued } = await aWorld();
    await start("p", "a", "b");
    await start("q", "c");

    const report = await engine.resolveIncidents({ filter: { definition: "p" } });

    expect(report).toMatchObject({ dryRun: true, matched: 2, resolved: 0, gone: 0, refused: 0 });
    expect(report.items).toMatchObject([
      { instanceId: "b", outcome: "matched" },
      { instanceId: "a", outcome: "matched" },
    ]);
    expect(queued).toEqual([]);
    expect((await engine.incidents({}, { limit: 10 })).items).toHaveLength(3);
  });

  test("resolves page by page, and only what the filter matches", async () => {
    const { engine, start, drain, mended } = await aWorld();
    await start("p", "a", "b", "c");
    await start("q", "d");
    mended.add("all");

    const about = { filter: { definition: "p" }, dryRun: false, limit: 2 };
    const first = await engine.resolveIncidents(about);
    const cursor = first.nextCursor ?? "";
    const second = await engine.resolveIncidents({ ...about, cursor });
    await drain();

    expect([first.resolved, second.resolved]).toEqual([2, 1]);
    expect(second.nextCursor).toBeUndefined();
    expect(await statusOf(engine, "a", "b", "c", "d")).toEqual([
      "succeeded",
      "succeeded",
      "succeeded",
      "suspended",
    ]);
  });

  test("passes variables and retries to each", async () => {
    const { engine, start, drain } = await aWorld();
    await start("p", "a", "b");

    await engine.resolveIncidents({ dryRun: false, variables: { ok: true }, retries: 2 });
    await drain();

    expect(await statusOf(engine, "a", "b")).toEqual(["succeeded", "succeeded"]);
    expect((await engine.get("a")).variables).toEqual({ ok: true });
  });

  test("reports incidents that another caller resolved first, and counts them as nothing else", async () => {
    const { engine, store, start, mended, drain } = await aWorld();
    await start("p", "a", "b");
    mended.add("all");
    const commit = store.commit.bind(store);
    store.commit = async (writes) => {
      store.commit = commit;
      // While "b" is resolved, an operator cancels "a".
      await engine.cancel("a");
      return commit(writes);
    };

    const report = await engine.resolveIncidents({ dryRun: false });
    await drain();

    expect(report).toMatchObject({ matched: 2, resolved: 1, gone: 1, refused: 0 });
    expect(report.items).toMatchObject([
      { instanceId: "b", outcome: "resolved" },
      { instanceId: "a", outcome: "gone" },
    ]);
    expect(await statusOf(engine, "a", "b")).toEqual(["cancelled", "succeeded"]);
  });

  test("skips an incident that is raised again while it runs", async () => {
    const { engine, start, drain } = await aWorld();
    await start("p", "a");

    const { resolved } = await engine.resolveIncidents({ dryRun: false });
    await drain();

    expect(resolved).toBe(1);
    expect((await engine.incidents({}, { limit: 10 })).items).toHaveLength(1);
  });

  test("reports what is refused, and continues with the others", async () => {
    const { engine, start } = await aWorld();
    await start("p", "a", "b");
    const variables = { large: "x".repeat(3_000_000) };

    const report = await engine.resolveIncidents({ dryRun: false, variables });

    expect(report).toMatchObject({ matched: 2, resolved: 0, gone: 0, refused: 2 });
    expect(report.items[0]?.problem).toMatchObject({ code: "request/body-too-large" });
  });
});

describe("a bulk call whose time is over", () => {
  test.each([
    [MAX_BULK_MS, [["c"], ["b"], ["a"]]],
    [MAX_BULK_MS - 1, [["c", "b"], ["a"]]],
  ])("resolves no further incident: each takes %i ms", async (ms, pages) => {
    const { engine, start, slowDown } = await aWorld();
    await start("p", "a", "b", "c");
    slowDown(ms);

    const reports = await everyPage((cursor) => engine.resolveIncidents({ ...MEANT, ...cursor }));

    expect(reports.map(({ items }) => idsOf(items))).toEqual(pages);
    for (const { matched, resolved, items } of reports) {
      expect([matched, resolved]).toEqual([items.length, items.length]);
    }
  });

  test("goes on in the middle of an instance, and leaves none out", async () => {
    const { engine, drain, slowDown, mended } = await aWorld();
    const tasks = await deployWide(engine);
    await engine.start("wide", { instanceId: "w1" });
    await engine.start("wide", { instanceId: "w2" });
    await drain();
    mended.add("all");
    slowDown(MAX_BULK_MS);

    const reports = await everyPage((cursor) => engine.resolveIncidents({ ...MEANT, ...cursor }));
    await drain();

    expect(reports.map(({ resolved }) => resolved)).toEqual(Array(10).fill(1));
    const seen = reports.flatMap(({ items }) =>
      items.map((it) => `${it.instanceId} ${it.element}`),
    );
    const all = ["w1", "w2"].flatMap((id) => tasks.map((task) => `${id} ${task}`));
    expect(seen.toSorted()).toEqual(all);
    expect(await statusOf(engine, "w1", "w2")).toEqual(["succeeded", "succeeded"]);
  });

  test("erases no further instance, and goes on behind the last one", async () => {
    const { engine, start, slowDown, mended } = await aWorld();
    mended.add("all");
    await start("p", "a", "b", "c");
    slowDown(MAX_BULK_MS);

    const reports = await everyPage((cursor) => engine.purge({ ...MEANT, ...cursor }));

    expect(reports.map(({ items }) => idsOf(items))).toEqual([["c"], ["b"], ["a"]]);
    expect((await engine.list({}, { limit: 10 })).items).toEqual([]);
  });

  test("goes on behind one that was refused", async () => {
    const { engine, start, store, now, moveTo } = await aWorld();
    await start("p", "a", "b");
    store.commit = async () => {
      moveTo(now() + MAX_BULK_MS);
      return { kind: "busy", retryAfterMs: 1 };
    };

    const reports = await everyPage((cursor) => engine.resolveIncidents({ ...MEANT, ...cursor }));

    expect(reports.map(({ items }) => idsOf(items))).toEqual([["b"], ["a"]]);
    expect(reports.map(({ refused }) => refused)).toEqual([1, 1]);
  });

  test("is still a whole dry run", async () => {
    const { engine, start, store, now, moveTo } = await aWorld();
    await start("p", "a", "b");
    const get = store.get.bind(store);
    store.get = async (keys) => {
      moveTo(now() + MAX_BULK_MS);
      return get(keys);
    };

    expect((await engine.resolveIncidents({})).matched).toBe(2);
  });

  const MEANT = { dryRun: false };

  async function everyPage<T extends Readonly<{ nextCursor?: string }>>(
    read: (page: Readonly<{ cursor?: string }>) => Promise<T>,
  ): Promise<readonly T[]> {
    const pages = [await read({})];
    for (let page = pages[0]; page?.nextCursor !== undefined; page = pages.at(-1)) {
      pages.push(await read({ cursor: page.nextCursor }));
    }
    return pages;
  }
});

describe("purging", () => {
  async function ended() {
    const world = await aWorld();
    world.mended.add("all");
    await world.start("p", "a", "b");
    await world.start("q", "c");
    world.mended.clear();
    await world.start("q", "live", "gone");
    await world.engine.cancel("gone");
    await world.drain();
    return world;
  }

  test("is a dry run by default", async () => {
    const { engine } = await ended();

    const report = await engine.purge({});

    expect(report).toMatchObject({ dryRun: true, matched: 4, purged: 0, gone: 0, refused: 0 });
    expect(report.items[0]).toEqual({
      instanceId: "gone",
      definition: { id: "q", version: 1 },
      status: "cancelled",
      endedAt: expect.stringMatching(/^20/),
      outcome: "matched",
    });
    expect((await engine.list({}, { limit: 10 })).items).toHaveLength(5);
  });

  test("erases what the filter matches, and nothing that is live", async () => {
    const { engine, store } = await ended();

    const byStatus = await engine.purge({ dryRun: false, filter: { status: "cancelled" } });
    const byDefinition = await engine.purge({ dryRun: false, filter: { definition: "p" } });
    const byKey = await engine.purge({ dryRun: false, filter: { businessKey: "key of c" } });

    expect([byStatus, byDefinition, byKey].map(({ items }) => idsOf(items))).toEqual([
      ["gone"],
      ["b", "a"],
      ["c"],
    ]);
    expect(idsOf((await engine.list({}, { limit: 10 })).items)).toEqual(["live"]);
    await expect(engine.get("a")).rejects.toMatchObject({ code: "instance/not-found" });
    const rows = store.items().filter(({ key }) => key.pk.startsWith("default#K#"));
    expect(rows.map(({ key }) => key.pk)).toEqual(["default#K#bk#key of live"]);
  });

  test("selects by the end, not by the start", async () => {
    const { engine, start, moveTo, now, drain, mended } = await aWorld();
    await start("p", "slow");
    mended.add("all");
    await start("p", "quick");
    moveTo(now() + HOUR_MS);
    const endedBefore = new Date(now()).toISOString();
    moveTo(now() + HOUR_MS);
    await engine.resolveIncidents({ dryRun: false });
    await drain();

    const { items } = await engine.purge({ filter: { endedBefore } });

    expect(idsOf(items)).toEqual(["quick"]);
  });

  test("continues page by page, and its numbers add up", async () => {
    const { engine } = await ended();
    let [purged, pages] = [0, 0];
    let cursor: string | undefined;
    do {
      const page = await engine.purge({ dryRun: false, limit: 1, ...(cursor && { cursor }) });
      expect(page.matched).toBe(page.purged);
      purged += page.purged;
      pages += 1;
      cursor = page.nextCursor;
    } while (cursor !== undefined);

    expect(purged).toBe(4);
    expect(pages).toBeGreaterThan(3);
  });
});
