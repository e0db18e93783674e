import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import type { InstanceFilter } from "../../../lib/shapes/instances.ts";
import { sequence, service } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const DAY_MS = 86_400_000;

/** A world whose one task waits for a worker; `startAll` lets a second pass after each. */
async function aWorld() {
  const store = new SimulatedStore({});
  const world = aPlainWorld({ store });
  const { engine } = world;
  await engine.deploy({ notation: "bpmn", source: sequence(service("work")) });
  const startAll = async (...ids: readonly string[]) => {
    for (const instanceId of ids) {
      await engine.start("p", { instanceId });
      await world.drain();
      world.moveTo(world.now() + 1_000);
    }
  };
  const finish = async (...ids: readonly string[]) => {
    for (const instanceId of ids) {
      const { items } = await engine.tasks({ instanceId }, { limit: 1 });
      await engine.completeTask(items[0]?.taskId ?? "");
      await world.drain();
    }
  };
  /** The ids on every page, until there is no cursor. */
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
  return { ...world, store, startAll, finish, listed };
}

describe("a list of instances", () => {
  test("continues after more expired instances than one read returns", async () => {
    const { startAll, finish, listed, moveTo, now } = await aWorld();
    await startAll("old", "e1", "e2", "e3", "e4", "e5");
    await finish("e1", "e2", "e3", "e4", "e5");
    moveTo(now() + DAY_MS);
    await finish("old");
    await startAll("new");

    expect(await listed({ status: "succeeded" }, 2)).toEqual(["old"]);
    expect(await listed({}, 2)).toEqual(["new", "old"]);
  });

  test("continues after instances that vanish while it is read", async () => {
    const { store, startAll, finish, listed, moveTo, now } = await aWorld();
    await startAll("old", "e1", "e2", "e3");
    await finish("e1", "e2", "e3");
    moveTo(now() + DAY_MS);
    await finish("old");
    const list = store.list.bind(store);
    store.list = async (view, range) => {
      const page = await list(view, range);
      store.purgeExpired(now());
      return page;
    };

    expect(await listed({ definition: "p", status: "succeeded" }, 2)).toEqual(["old"]);
  });

  test("shows an instance that ends while it is read once", async () => {
    const { store, startAll, finish, listed } = await aWorld();
    await startAll("a", "b", "c");
    const list = store.list.bind(store);
    const { promise: ended, resolve: hasEnded } = Promise.withResolvers<void>();
    store.list = async (view, range) => {
      if (!view.includes("#live#")) {
        await ended;
        return list(view, range);
      }
      const page = await list(view, range);
      await finish("b");
      store.list = list;
      hasEnded();
      return page;
    };

    expect(await listed({ definition: "p" }, 10)).toEqual(["c", "b", "a"]);
  });

  test("leaves out instances of a newer format, and shows the others", async () => {
    const { store, startAll, listed } = await aWorld();
    await startAll("a", "b", "c");
    await rewrite(store, "b", (text) => text.replace(/"f":\d+/, '"f":99'));

    expect(await listed({}, 1)).toEqual(["c", "a"]);
  });

  test("leaves out an instance whose definition is not stored", async () => {
    const { store, startAll, listed } = await aWorld();
    await startAll("a", "b", "c");
    await rewrite(store, "b", (text) => text.replace(/"d":\["p",1,"[^"]+"/, '"d":["p",1,"gone"'));

    expect(await listed({}, 10)).toEqual(["c", "a"]);
  });

  test("fails when the store does", async () => {
    const { store, startAll, listed } = await aWorld();
    await startAll("a");
    store.get = async () => Promise.reject(new Error("the disk is gone"));

    await expect(listed({ definition: "p" }, 10)).rejects.toThrow("the disk is gone");
  });
});

/** Changes the stored bytes of an instance behind the engine's back. */
async function rewrite(store: SimulatedStore, id: string, change: (text: string) => string) {
  const item = store.items().find(({ key }) => key.sk === "S" && key.pk.endsWith(`#I#${id}`));
  if (item === undefined) throw new Error(`no instance ${id}`);
  const text = new TextDecoder().decode(item.body);
  const changed = change(text);
  expect(changed).not.toBe(text);
  const body = new TextEncoder().encode(changed);
  await store.commit([{ put: { ...item, body }, when: { version: item.version } }]);
}
