import { describe, expect, onTestFinished, test } from "vitest";
import { openLocalStore } from "../../../lib/adapters/local/store.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { MAX_SHARDS } from "../../../lib/definition/limits.ts";
import { phaseView, shardFor } from "../../../lib/engine/storage/keys.ts";
import type { InstanceFilter } from "../../../lib/shapes/instances.ts";
import {
  aMessage,
  aSignal,
  beside,
  end,
  file,
  flow,
  onMessage,
  onSignal,
  sequence,
  service,
  start,
  xml,
} from "../../support/bpmn-xml.ts";
import { calling, line } from "../../support/call-xml.ts";
import { aDataDir } from "../../support/embedded.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

/** A definition whose task waits for a worker. */
async function aWorld() {
  const store = new SimulatedStore({});
  const world = aPlainWorld({ store });
  const { engine } = world;
  const source = sequence(service("work"));
  const deploy = (name: string) =>
    engine.deploy({
      notation: "bpmn",
      source: source.replace('id="p"', `id="p" name="${name}"`),
    });
  await deploy("first");
  const startAll = async (...ids: readonly string[]) => {
    for (const instanceId of ids) {
      await engine.start("p", { instanceId });
      world.moveTo(world.now() + 1);
    }
    await world.drain();
  };
  const listed = async (filter: InstanceFilter, limit: number) => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.list(filter, { limit, ...(cursor !== undefined && { cursor }) });
      ids.push(...page.items.map(({ instanceId }) => instanceId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return ids;
  };
  /** The shards that contain instances of a phase. */
  const shardsIn = (phase: string) => {
    const views = store.items().flatMap(({ listed }) => (listed ? [listed.view] : []));
    const ours = views.filter((view) => view.startsWith(`default#L#${phase}#`));
    return new Set(ours.map((view) => Number(view.split("#").at(-1))));
  };
  return { ...world, store, deploy, startAll, listed, shardsIn };
}

const ids = (letter: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${letter}${String(n).padStart(2, "0")}`);

const FILTERS: readonly InstanceFilter[] = [
  {},
  { definition: "p" },
  { status: "suspended" },
  { definition: "p", status: "suspended" },
];

describe("a definition with a sharded listing", () => {
  test("distributes new instances over every shard, and leaves the others where they are", async () => {
    const { engine, startAll, shardsIn } = await aWorld();
    await startAll(...ids("a", 20));
    expect(shardsIn("live")).toEqual(new Set([0]));

    await engine.setListing("p", { shards: 4 });
    await startAll(...ids("b", 40));

    expect(shardsIn("live")).toEqual(new Set([0, 1, 2, 3]));
    expect(await engine.listing("p")).toEqual({ definition: "p", shards: 4 });
  });

  test.each(FILTERS)("is listed in one exact order, page by page: %j", async (filter) => {
    const { engine, startAll, listed } = await aWorld();
    await startAll(...ids("a", 10));
    await engine.setListing("p", { shards: 4 });
    await startAll(...ids("b", 10));
    await engine.setListing("p", { shards: 8 });
    await startAll(...ids("c", 10));
    const all = [...ids("a", 10), ...ids("b", 10), ...ids("c", 10)].reverse();

    for (const limit of [1, 3, 7, 50]) expect(await listed(filter, limit)).toEqual(all);
  });

  test("can be listed from a cursor while others start, end and add shards", async () => {
    const { engine, startAll, drain } = await aWorld();
    await engine.setListing("p", { shards: 2 });
    await startAll(...ids("a", 20));
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let n = 0; ; n += 1) {
      const page = await engine.list({ definition: "p" }, { limit: 3, ...(cursor && { cursor }) });
      seen.push(...page.items.map(({ instanceId }) => instanceId));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
      if (n === 1) await engine.setListing("p", { shards: 16 });
      await startAll(`later-${n}`);
      const [task] = (await engine.tasks({ instanceId: `a0${n}` }, { limit: 1 })).items;
      if (task) await engine.completeTask(task.taskId);
      await drain();
    }

    expect(seen).toEqual(ids("a", 20).reverse());
  });

  test("moves an instance between phases within its shard", async () => {
    const { engine, drain, startAll, listed, shardsIn, store } = await aWorld();
    await engine.setListing("p", { shards: 8 });
    await startAll(...ids("a", 24));
    for (const instanceId of ids("a", 24)) {
      const [task] = (await engine.tasks({ instanceId }, { limit: 1 })).items;
      await engine.failTask(task?.taskId ?? "", { message: "no", retries: 0 });
    }
    const failing = await listed({ incident: true }, 5);
    const { resolved } = await engine.resolveIncidents({ dryRun: false, limit: 50 });
    const live = await listed({ definition: "p", status: "suspended" }, 5);
    for (const instanceId of ids("a", 24)) await engine.cancel(instanceId);
    await drain();
    const before = shardsIn("cancelled").size;

    const { purged } = await engine.purge({
      filter: { definition: "p" },
      dryRun: false,
      limit: 50,
    });

    expect(failing).toEqual(ids("a", 24).reverse());
    expect(resolved).toBe(24);
    expect(live).toEqual(failing);
    expect([before, purged]).toEqual([8, 24]);
    expect(store.items().some(({ listed: it }) => it?.view.includes("#L#"))).toBe(false);
  });

  test("leaves each instance in its shard after it is read from the disk again", async () => {
    const folder = aDataDir();
    const before = openLocalStore({ folder });
    const first = aPlainWorld({ store: before });
    await first.engine.deploy({ notation: "bpmn", source: sequence(service("work")) });
    await first.engine.setListing("p", { shards: 8 });
    for (const instanceId of ids("a", 16)) await first.engine.start("p", { instanceId });
    await first.drain();
    await before.close();

    const store = openLocalStore({ folder });
    onTestFinished(() => store.close());
    const { engine } = aPlainWorld({ store });
    for (const instanceId of ids("a", 16)) await engine.cancel(instanceId);
    const shards = ids("a", 16).map((id) => shardFor(id, 8));
    const views = Array.from({ length: 8 }, (_, n) => phaseView("default", "cancelled", "p", n));
    const pages = await Promise.all(views.map((view) => store.list(view, { limit: 50 })));

    expect(pages.map(({ items }) => items.length)).toEqual(
      views.map((_, n) => shards.filter((shard) => shard === n).length),
    );
    expect(new Set(shards).size).toBeGreaterThan(4);
  });

  test("counts live instances in all shards, and recovers them", async () => {
    const { engine, startAll } = await aWorld();
    await engine.setListing("p", { shards: 8 });
    await startAll(...ids("a", 24));

    expect((await engine.definition("p")).live).toEqual({ count: 24, more: false });
    expect((await engine.definition("p", 1)).live).toEqual({ count: 24, more: false });
    expect(await engine.recoverAll({ limit: 50 })).toMatchObject({ skipped: 24 });
  });

  test("keeps its shards across versions, and across undeploying and deploying again", async () => {
    const { engine, deploy, startAll, listed } = await aWorld();
    await engine.setListing("p", { shards: 8 });
    await startAll(...ids("a", 10));
    await deploy("second");
    await engine.disable("p");
    await engine.enable("p");
    await engine.undeploy("p");
    const gone = await listed({ definition: "p" }, 3);
    await deploy("third");

    expect(gone).toEqual(ids("a", 10).reverse());
    expect(await engine.listing("p")).toEqual({ definition: "p", shards: 8 });
    expect(await listed({}, 3)).toEqual(ids("a", 10).reverse());
  });

  test("is in the list of definitions once, whatever its number of shards", async () => {
    const { engine } = await aWorld();
    await engine.deploy({
      notation: "bpmn",
      source: sequence(service("work")).replace('id="p"', 'id="p.q"'),
    });
    await engine.setListing("p", { shards: MAX_SHARDS });

    const { items } = await engine.definitions({ limit: 10 });

    expect(items.map(({ id }) => id).toSorted()).toEqual(["p", "p.q"]);
  });

  test("finds a start that had read the old number of shards", async () => {
    const { engine, store, startAll, listed } = await aWorld();
    await engine.setListing("p", { shards: 2 });
    await startAll(...ids("a", 5));
    const get = store.get.bind(store);
    // Every start reads the head, and then the number is raised before anything is committed.
    store.get = async (keys, how) => {
      const found = await get(keys, how);
      if (keys[0]?.sk === "LATEST") {
        store.get = get;
        await engine.setListing("p", { shards: 64 });
      }
      return found;
    };
    await startAll("b");

    expect(await listed({ definition: "p" }, 2)).toEqual(["b", ...ids("a", 5).reverse()]);
    expect(await listed({}, 2)).toEqual(["b", ...ids("a", 5).reverse()]);
  });

  test("distributes children, and instances started by a message or a signal", async () => {
    const world = await aWorld();
    const { engine, drain, store } = world;
    const begun = (id: string, by: string) =>
      xml(
        "process",
        { id, isExecutable: "true" },
        start(`${id}-start`, by),
        service(`${id}-wait`),
        end(`${id}-end`),
        flow(`${id}-1`, `${id}-start`, `${id}-wait`),
        flow(`${id}-2`, `${id}-wait`, `${id}-end`),
      );
    const roots = [aSignal("s"), aMessage("begin")];
    for (const one of [
      begun("by-signal", onSignal("s")),
      begun("by-mail", onMessage("begin")),
      line("caller", [calling("call", "p")]),
    ]) {
      await engine.deploy({ notation: "bpmn", source: beside(file(one), ...roots) });
    }
    for (const id of ["p", "by-signal", "by-mail"]) await engine.setListing(id, { shards: 64 });
    for (let n = 0; n < 12; n += 1) {
      await engine.signal({ id: `s${n}`, name: "s" });
      await engine.message({ messageId: `m${n}`, name: "begin", correlationKey: `k${n}` });
      await engine.start("caller");
      await drain();
    }

    for (const id of ["p", "by-signal", "by-mail"]) {
      const { items } = await engine.list({ definition: id }, { limit: 50 });
      expect([id, items.length]).toEqual([id, 12]);
      const views = store.items().map(({ listed }) => listed?.view ?? "");
      const shards = new Set(views.filter((view) => view.includes(`#L#live#${id}#`)));
      expect(shards.size).toBeGreaterThan(6);
    }
  });
});

describe("the number of shards", () => {
  test("only grows, up to the maximum", async () => {
    const { engine } = await aWorld();
    await engine.setListing("p", { shards: MAX_SHARDS });

    await expect(engine.setListing("p", { shards: 32 })).rejects.toMatchObject({
      code: "definition/fewer-shards",
    });
    expect(await engine.setListing("p", { shards: MAX_SHARDS })).toEqual({
      definition: "p",
      shards: MAX_SHARDS,
    });
  });

  test("is refused for an unknown definition", async () => {
    const { engine } = await aWorld();

    await expect(engine.setListing("q", { shards: 8 })).rejects.toThrow("definition/not-found");
    await expect(engine.listing("q")).rejects.toThrow("definition/not-found");
  });

  test("costs an instance nothing while it is one", async () => {
    const { store, startAll } = await aWorld();
    await startAll("a");

    const bodies = store.items().map(({ body }) => new TextDecoder().decode(body));

    expect(bodies.filter((text) => /"(ls|shards)":/.test(text) && !text.includes("offer"))).toEqual(
      bodies.filter((text) => text === '{"shards":1}'),
    );
  });
});
