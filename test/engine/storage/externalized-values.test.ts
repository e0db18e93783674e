import { describe, expect, test } from "vitest";
import { SimulatedBlobs } from "../../../lib/adapters/simulated/blobs.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import type { Json, Variables } from "../../../lib/definition/json.ts";
import {
  MAX_INSTANCE_BYTES,
  MAX_VALUE_ITEM_BYTES,
  MAX_VALUES_BYTES,
  MIN_APART_BYTES,
} from "../../../lib/definition/limits.ts";
import type { World } from "../../../lib/engine/world.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { extensions, file, flow, job, process, start, xml } from "../../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../../support/embedded.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const task = (id: string) => xml("serviceTask", { id }, extensions(job(id)));

/** Three tasks: `grow` and `go` have a handler, `wait` is for a worker. */
const source = file(
  process(
    start(),
    ...["grow", "go", "wait"].map(task),
    flow("f1", "start", "grow"),
    flow("f2", "grow", "go"),
    flow("f3", "go", "wait"),
  ),
);

const textOf = (bytes: number): string => "x".repeat(bytes - 2);

/** A store that reports every item that is put, and a world on it. */
async function aWorld(grown: Variables, settings: Partial<World["settings"]> = {}) {
  const store = new SimulatedStore({});
  const blobs = new SimulatedBlobs();
  const puts: Item[] = [];
  const commit = store.commit.bind(store);
  store.commit = (writes) => {
    for (const write of writes) if ("put" in write) puts.push(write.put);
    return commit(writes);
  };
  const tasks = { grow: () => grown, go: () => ({ went: true }) };
  const world = aPlainWorld({ store, blobs, tasks, settings });
  await world.engine.deploy({ notation: "bpmn", source });
  const run = async (variables: Variables = {}) => {
    await world.engine.start("p", { instanceId: "i", variables });
    await world.drain();
    return world.engine.get("i");
  };
  /** What was put for the instance, in order: each item's kind and bytes. */
  const put = (kind: "S" | "T" | "V") =>
    puts.filter(({ key }) => key.pk.endsWith("#I#i") && key.sk.startsWith(kind));
  const finish = async (variables: Variables = {}) => {
    const { items } = await world.engine.tasks({ instanceId: "i" }, { limit: 1 });
    await world.engine.completeTask(items[0]?.taskId ?? "", { variables });
    await world.drain();
  };
  return { ...world, store, blobs, put, run, finish };
}

/** A host that has to read everything itself. */
function elsewhere(
  { store, blobs }: Readonly<{ store: SimulatedStore; blobs: SimulatedBlobs }>,
  settings: Partial<World["settings"]> = {},
) {
  const copying = new SimulatedStore({});
  copying.get = async (keys, how) =>
    (await store.get(keys, how)).map((item) => item && { ...item, body: item.body.slice() });
  return aPlainWorld({ store: copying, blobs, settings });
}

const isValue = ({ key }: Item): boolean => key.pk.endsWith("#I#i") && key.sk.startsWith("V#");

describe("an externalized value", () => {
  const document = { title: "Annual report", pages: textOf(3_000) };

  test("keeps the instance small where size is billed, is put once, and is read back complete", async () => {
    const world = await aWorld({ document });

    const { variables } = await world.run({ small: 1 });

    expect(variables).toEqual({ small: 1, document, went: true });
    expect(world.put("V")).toHaveLength(1);
    expect(world.put("S").every(({ body }) => body.length < 1_024)).toBe(true);
  });

  test("is put before the commit that needs it", async () => {
    const world = await aWorld({ document });
    let isStoredFirst = true;
    const commit = world.store.commit.bind(world.store);
    world.store.commit = (writes) => {
      const [first] = writes;
      const isInstance = first && "put" in first && first.put.key.sk === "S";
      const text = isInstance ? new TextDecoder().decode(first.put.body) : "";
      const [, hash] = /"v":\[\[\[[^\]]*\],"([^"]+)"/.exec(text) ?? [];
      if (hash) isStoredFirst &&= world.put("V").some(({ key }) => key.sk === `V#${hash}`);
      return commit(writes);
    };

    await world.run();

    expect(isStoredFirst).toBe(true);
    expect(world.put("V")).toHaveLength(1);
  });

  test("is read again by a host that has never seen it, also with stale reads", async () => {
    const world = await aWorld({ document });
    await world.run();
    const stale = new Set<string>();
    const get = world.store.get.bind(world.store);
    world.store.get = async (keys, how) => {
      const items = await get(keys, how);
      if (how?.stale) for (const { sk } of keys) stale.add(sk.slice(0, 2));
      return how?.stale ? items.map(() => undefined) : items;
    };
    const other = elsewhere(world);

    const { variables } = await other.engine.get("i");

    expect(variables).toEqual({ document, went: true });
    expect(stale).toEqual(new Set(["V#"]));
  });

  test.each<[string, Json]>([
    ["a text", textOf(2_000)],
    ["a list", Array.from({ length: 400 }, (_, n) => n)],
    ["what looks like a reference", { v: [[["x"], "hash", 3]], "0": textOf(1_000) }],
    ["names of all kinds", JSON.parse(`{"__proto__":"${textOf(900)}","constructor":[],"":null}`)],
  ])("may be %s", async (_, value) => {
    const world = await aWorld({ value });

    await world.run();

    const other = elsewhere(world);
    const { variables } = await other.engine.get("i");
    expect(JSON.stringify(variables.value)).toBe(JSON.stringify(value));
    expect(world.put("V")).toHaveLength(1);
  });

  test("under a name that means something to JavaScript stays a variable", async () => {
    const grown: Variables = JSON.parse(`{"__proto__":"${textOf(2_000)}"}`);
    const world = await aWorld(grown);

    const { variables } = await world.run();

    expect(Object.hasOwn(variables, "__proto__")).toBe(true);
    expect(world.put("V")).toHaveLength(1);
  });

  test("of at most half a KB stays inline, one byte more may be externalized", async () => {
    const sizes = [MIN_APART_BYTES, MIN_APART_BYTES + 1];
    const leaves = sizes.map(async (bytes) => {
      const world = await aWorld({ a: textOf(bytes), b: textOf(bytes) });
      await world.run();
      return world.put("V").length;
    });

    expect(await Promise.all(leaves)).toEqual([0, 1]);
  });

  test.each([
    [1_000, 300_000],
    [300_000, 1_000],
  ])(
    "is found where it was stored, although it would be stored elsewhere now: %i, %i",
    async (then, now) => {
      const world = await aWorld({ document }, { blobBytes: then });
      await world.run();

      const { variables } = await elsewhere(world, { blobBytes: now }).engine.get("i");

      expect(variables).toEqual({ document, went: true });
      expect(world.blobs.names().size).toBe(then < now ? 1 : 0);
    },
  );

  test("expires with its instance, and so do those that it replaced", async () => {
    const world = await aWorld({ document });
    await world.run({ document: textOf(2_500), large: textOf(MAX_VALUE_ITEM_BYTES + 1) });

    await world.finish();

    expect((await world.engine.get("i")).status).toBe("succeeded");
    const values = world.store.items().filter(isValue);
    expect(values).toHaveLength(3);
    const expiry = world.store.items().find(({ key }) => key.pk.endsWith("#I#i"))?.expiresAt;
    expect(new Set(values.map(({ expiresAt }) => expiresAt))).toEqual(new Set([expiry]));
    expect([...world.blobs.names().values()]).toEqual(["expiring"]);
    expect((await world.engine.result("i")).variables).toMatchObject({ document });
  });

  test.each([
    ["the end of its instance", true],
    ["another step", false],
  ])("that was put for a commit which lost to %s is removed as well", async (_, isEnd) => {
    const world = await aWorld({ document });
    const commit = world.store.commit.bind(world.store);
    let others = 0;
    world.store.commit = async (writes) => {
      const outcome = await commit(writes);
      const [first] = writes;
      if (first && "put" in first && isValue(first.put) && others++ === 0) {
        await (isEnd ? world.engine.cancel("i") : world.engine.event({ name: "e", target: "i" }));
      }
      return outcome;
    };

    await world.run();
    if (!isEnd) await world.engine.cancel("i");
    await world.drain();

    const values = world.store.items().filter(isValue);
    expect((await world.engine.get("i")).status).toBe("cancelled");
    expect(values.map(({ expiresAt }) => expiresAt !== undefined)).toEqual([true]);
  });

  test("that only the end makes too large for one item is also externalized, and expires", async () => {
    const world = await aWorld({});
    await world.run();

    await world.finish({ result: textOf(MAX_INSTANCE_BYTES) });

    const other = elsewhere(world);
    expect((await other.engine.result("i")).variables).toMatchObject({
      result: textOf(MAX_INSTANCE_BYTES),
    });
    const values = world.store.items().filter(isValue);
    expect(values.map(({ expiresAt }) => expiresAt !== undefined)).toEqual([true]);
  });
});

describe("D22 R23 a result", () => {
  const sizes: readonly [string, number][] = [
    ["near the limit of an item", 399_000],
    ["larger than an item", 450_000],
    ["of more than two MB", 2_400_000],
  ];

  test.each(sizes)("%s is handled where writes are billed", async (_, bytes) => {
    const world = await aWorld({ large: textOf(bytes) });

    await world.run();

    const other = elsewhere(world);
    expect((await other.engine.get("i")).variables.large).toBe(textOf(bytes));
    expect((await other.engine.get("i")).incidents).toEqual([]);
    expect(world.put("S").every(({ body }) => body.length < 1_024)).toBe(true);
  });

  test.each(sizes)(
    "%s is handled by the embedded engine, and after a restart",
    async (_, bytes) => {
      const dataDir = aDataDir();
      const tasks = { grow: () => ({ large: textOf(bytes) }), go: () => ({ went: true }) };
      const engine = await anEngine({ dataDir, source, tasks });
      const { instanceId } = await engine.start("p");
      await engine.idle();
      await engine.close();

      const again = await anEngine({ dataDir, tasks });

      const { variables, incidents } = await again.get(instanceId);
      expect(variables).toEqual({ large: textOf(bytes), went: true });
      expect(incidents).toEqual([]);
      const [open] = (await again.tasks()).items;
      await again.complete(open?.taskId ?? "", { variables: { done: true } });
      expect((await again.result(instanceId)).variables).toMatchObject({ done: true });
    },
  );

  test("that is too large for any storage is an incident, and nothing of it is kept", async () => {
    const world = await aWorld({ large: textOf(MAX_VALUES_BYTES + 1) });

    const { incidents, variables } = await world.run();

    expect(incidents).toMatchObject([{ type: "STATE_TOO_LARGE", element: "grow" }]);
    expect(variables).toEqual({});
    expect(world.put("V")).toEqual([]);
  });

  test("of exactly the maximum size of an instance is handled", async () => {
    const world = await aWorld({ large: textOf(MAX_VALUES_BYTES) });

    const { incidents } = await world.run();

    expect(incidents).toEqual([]);
  });

  test("of so many small values that their references do not fit is an incident", async () => {
    const count = MAX_INSTANCE_BYTES / 400;
    const small = Array.from({ length: count }, (_, n) => [`v${n}`, textOf(400)]);
    const world = await aWorld(Object.fromEntries(small));

    const { incidents } = await world.run();

    expect(incidents).toMatchObject([{ type: "STATE_TOO_LARGE" }]);
  });
});
