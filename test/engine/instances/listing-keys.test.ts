import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import {
  MAX_BUSINESS_KEY_LENGTH,
  MAX_ROW_IN_FLIGHT_MS,
  MAX_TAG_LENGTH,
  MAX_TAGS,
} from "../../../lib/definition/limits.ts";
import type { Item } from "../../../lib/ports/store.ts";
import type { InstanceFilter, StartRequest } from "../../../lib/shapes/instances.ts";
import type { Listed, PageRequest } from "../../../lib/shapes/paging.ts";
import { sequence, service } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";
import { startsItself } from "../../support/timer-starts.ts";

const UNKNOWN = { code: "engine/outcome-unknown" };

const DAY_MS = 86_400_000;

/** Two definitions whose task waits for a worker; a second passes after each start. */
async function aWorld() {
  const store = new SimulatedStore({});
  const world = aPlainWorld({ store });
  const { engine } = world;
  const source = sequence(service("work"));
  for (const id of ["p", "q"]) {
    await engine.deploy({ notation: "bpmn", source: source.replace('id="p"', `id="${id}"`) });
  }
  const start = async (instanceId: string, request: StartRequest = {}, definition = "p") => {
    await engine.start(definition, { instanceId, ...request });
    await world.drain();
    world.moveTo(world.now() + 1_000);
  };
  const finish = async (instanceId: string) => {
    const { items } = await engine.tasks({ instanceId }, { limit: 1 });
    await engine.completeTask(items[0]?.taskId ?? "");
    await world.drain();
  };
  const listed = async (filter: InstanceFilter, limit = 10) => {
    const { items } = await engine.list(filter, { limit });
    return items.map(({ instanceId }) => instanceId);
  };
  const rows = () => store.items().filter(({ key }) => key.pk.startsWith("default#K#"));
  return { ...world, store, start, finish, listed, rows };
}

describe("a list by business key or tag", () => {
  test("shows all that have it, the newest first, whatever their status", async () => {
    const { start, finish, listed } = await aWorld();
    await start("a", { businessKey: "order 1", tags: ["vip", "eu"] });
    await start("b", { businessKey: "order 2", tags: ["vip"] });
    await start("c", { businessKey: "order 1" }, "q");
    await start("d");
    await finish("a");

    expect(await listed({ businessKey: "order 1" })).toEqual(["c", "a"]);
    expect(await listed({ tag: "vip" })).toEqual(["b", "a"]);
    expect(await listed({ tag: "eu" })).toEqual(["a"]);
    expect(await listed({ businessKey: "order 3" })).toEqual([]);
    expect(await listed({})).toEqual(["d", "c", "b", "a"]);
  });

  test("takes every other filter as well", async () => {
    const { start, finish, listed, engine } = await aWorld();
    await start("a", { businessKey: "k", tags: ["x", "y"] });
    await start("b", { businessKey: "k", tags: ["x"] });
    await start("c", { businessKey: "k", tags: ["x"] }, "q");
    await finish("a");
    const { startedAt } = await engine.get("b");

    expect(await listed({ businessKey: "k", definition: "q" })).toEqual(["c"]);
    expect(await listed({ businessKey: "k", tag: "y" })).toEqual(["a"]);
    expect(await listed({ tag: "x", status: "succeeded" })).toEqual(["a"]);
    expect(await listed({ tag: "x", status: "suspended", definition: "p" })).toEqual(["b"]);
    expect(await listed({ tag: "x", incident: true })).toEqual([]);
    expect(await listed({ tag: "x", startedAfter: startedAt })).toEqual(["c"]);
    expect(await listed({ tag: "x", startedBefore: startedAt })).toEqual(["a"]);
  });

  test("distinguishes keys that look alike, and finds unusual ones", async () => {
    const { start, listed } = await aWorld();
    const strange = ["a#b", "a%23b", "ä 🙂", "x".repeat(MAX_BUSINESS_KEY_LENGTH)];
    for (const [n, businessKey] of strange.entries()) await start(`i${n}`, { businessKey });

    for (const [n, businessKey] of strange.entries()) {
      expect(await listed({ businessKey })).toEqual([`i${n}`]);
    }
  });

  test("continues after its cursor", async () => {
    const { start, engine } = await aWorld();
    for (const id of ["a", "b", "c"]) await start(id, { tags: ["t"] });

    const first = await engine.list({ tag: "t" }, { limit: 2 });
    const cursor = first.nextCursor ?? "";
    const second = await engine.list({ tag: "t" }, { limit: 2, cursor });

    expect(first.items.map(({ instanceId }) => instanceId)).toEqual(["c", "b"]);
    expect(second.items.map(({ instanceId }) => instanceId)).toEqual(["a"]);
    expect(second.nextCursor).toBeUndefined();
  });

  test("finds nothing that was erased, and no row of it stays", async () => {
    const { start, finish, listed, rows, engine } = await aWorld();
    await start("a", { businessKey: "k", tags: ["t"] });
    await finish("a");

    await engine.erase("a");

    expect(rows()).toEqual([]);
    expect(await listed({ businessKey: "k" })).toEqual([]);
  });

  test("completes an erasure that a crash interrupted", async () => {
    const { start, finish, rows, engine, store } = await aWorld();
    await start("a", { businessKey: "secret" });
    await finish("a");
    const commit = store.commit.bind(store);
    store.commit = async (writes) =>
      "remove" in writes[0] ? Promise.reject(new Error("killed")) : commit(writes);
    await expect(engine.erase("a")).rejects.toThrow("killed");
    store.commit = commit;
    expect(rows()).toHaveLength(1);

    await engine.erase("a");

    expect(rows()).toEqual([]);
    const texts = store.items().map(({ body }) => new TextDecoder().decode(body));
    expect(texts.some((text) => text.includes("secret"))).toBe(false);
  });

  test("takes as many tags of as many characters as the limits allow", async () => {
    const { engine } = await aWorld();

    const most = Array.from({ length: MAX_TAGS }, (_, n) => `${n}`.padEnd(MAX_TAG_LENGTH, "x"));
    await engine.start("p", { tags: most });

    const { items } = await engine.list({ tag: most.at(-1) ?? "" }, { limit: 10 });
    expect(items).toMatchObject([{ tags: most }]);
  });
});

describe("a row of a business key or tag", () => {
  test("is not written without a key or tag", async () => {
    const { start, finish, rows, store } = await aWorld();

    await start("a");
    await finish("a");

    expect(rows()).toEqual([]);
    expect(store.items().filter(({ key }) => key.pk.includes("#I#"))).toHaveLength(1);
  });

  test("is written before its instance, and expires with it", async () => {
    const { start, finish, rows, store } = await aWorld();
    const seen: (readonly Item[])[] = [];
    const commit = store.commit.bind(store);
    store.commit = async (writes) => {
      if ("put" in writes[0] && writes[0].put.key.sk === "S") seen.push(rows());
      return commit(writes);
    };

    await start("a", { businessKey: "k", tags: ["t", "t"] });
    expect(seen[0]?.map(({ key }) => key.pk)).toEqual(["default#K#bk#k", "default#K#tag#t"]);
    expect(rows().map(({ expiresAt }) => expiresAt)).toEqual([undefined, undefined]);
    await finish("a");

    const [instance] = store.items().filter(({ key }) => key.pk === "default#I#a");
    expect(instance?.expiresAt).toBeDefined();
    expect(rows().map(({ expiresAt }) => expiresAt)).toEqual([
      instance?.expiresAt,
      instance?.expiresAt,
    ]);
  });

  test("without its instance stays for an hour, then a list removes it", async () => {
    const { start, listed, rows, store, moveTo, now, engine, queued } = await aWorld();
    const commit = store.commit.bind(store);
    store.commit = async (writes) =>
      "put" in writes[0] && writes[0].put.key.sk === "S"
        ? Promise.reject(new Error("killed"))
        : commit(writes);
    await expect(engine.start("p", { businessKey: "k" })).rejects.toMatchObject(UNKNOWN);
    store.commit = commit;
    queued.length = 0;
    await start("other", { businessKey: "k" });
    const begun = now();

    moveTo(begun + MAX_ROW_IN_FLIGHT_MS - 1_000);
    expect(await listed({ businessKey: "k" })).toEqual(["other"]);
    expect(rows()).toHaveLength(2);
    moveTo(begun + MAX_ROW_IN_FLIGHT_MS + 1_000);
    expect(await listed({ businessKey: "k" })).toEqual(["other"]);

    expect(rows().map(({ key }) => key.sk)).toEqual([expect.stringMatching(/#other$/)]);
  });

  test("does not point to a later instance with the same id", async () => {
    const { start, finish, listed, moveTo, now, store } = await aWorld();
    await start("a", { businessKey: "first" });
    await finish("a");
    moveTo(now() + 2 * DAY_MS);
    const rows = store.items().filter(({ key }) => key.pk.startsWith("default#K#"));
    store.purgeExpired(now());
    await start("a", { businessKey: "second" });
    for (const row of rows) await store.commit([{ put: row, when: "newer" }]);

    expect(await listed({ businessKey: "first" })).toEqual([]);
    expect(await listed({ businessKey: "second" })).toEqual(["a"]);
  });
});

describe("a cursor of a list", () => {
  const filters: readonly InstanceFilter[] = [
    {},
    { definition: "p" },
    { status: "suspended" },
    { tag: "t" },
    { businessKey: "k" },
    { startedAfter: "2020-01-01T00:00:00Z" },
  ];

  test("is refused by every other list", async () => {
    const { start, engine } = await aWorld();
    for (const id of ["a", "b"]) await start(id, { businessKey: "k", tags: ["t"] });

    for (const [n, filter] of filters.entries()) {
      const { nextCursor: cursor = "" } = await engine.list(filter, { limit: 1 });
      expect((await engine.list(filter, { limit: 1, cursor })).items).toHaveLength(1);
      for (const other of filters.toSpliced(n, 1)) {
        const refusal = { code: "store/cursor-invalid" };
        await expect(engine.list(other, { limit: 1, cursor })).rejects.toMatchObject(refusal);
      }
      await expect(engine.recoverAll({ limit: 1, cursor })).rejects.toMatchObject({
        code: "store/cursor-invalid",
      });
    }
  });

  test("of tasks, definitions, history and the like is refused by every other list", async () => {
    const { start, engine } = await aWorld();
    for (const id of ["a", "b"]) await start(id, {});
    await engine.deploy({ notation: "bpmn", source: startsItself("q", { timeCycle: "R/P1D" }) });
    await engine.deploy({ notation: "bpmn", source: startsItself("r", { timeCycle: "R/P1D" }) });
    for (const name of ["one", "two"]) {
      const source = startsItself("r", { timeCycle: "R/P1D" }, { name });
      await engine.deploy({ notation: "bpmn", source });
    }
    const lists: readonly ((page: PageRequest) => Promise<Listed<unknown>>)[] = [
      (page) => engine.tasks({}, page),
      (page) => engine.tasks({ type: "work" }, page),
      (page) => engine.tasks({ type: "other" }, page),
      (page) => engine.tasks({ candidateGroup: "sales" }, page),
      (page) => engine.tasks({ assignee: "kim" }, page),
      (page) => engine.tasks({ instanceId: "a" }, page),
      (page) => engine.tasks({ instanceId: "b" }, page),
      (page) => engine.definitions(page),
      (page) => engine.versions("p", page),
      (page) => engine.versions("r", page),
      (page) => engine.schedules(page),
      (page) => engine.history("a", page),
      (page) => engine.history("b", page),
      (page) => engine.deadLetters({}, page),
      (page) => engine.deadLetters({ name: "paid" }, page),
    ];
    let seen = 0;

    for (const [n, list] of lists.entries()) {
      const { nextCursor: cursor } = await list({ limit: 1 });
      if (cursor === undefined) continue;
      seen += 1;
      expect((await list({ limit: 1, cursor })).items).toHaveLength(1);
      for (const other of lists.toSpliced(n, 1)) {
        await expect(other({ limit: 1, cursor })).rejects.toMatchObject({
          code: "store/cursor-invalid",
        });
      }
    }

    expect(seen).toBeGreaterThanOrEqual(7);
  });
});
