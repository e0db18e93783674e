import { beforeAll, describe, expect, test } from "vitest";
import type { InstanceFilter } from "../../lib/client/index.ts";
import { chain, client, ended, eventually, fresh, historyOf, task } from "../support/deployed.ts";

const CROWD = 8;
const PAGE = 2;

/** All of them wait for a worker that does not exist. */
const [id, type] = [fresh("operated"), fresh("nobody-runs-this")];
const [early, late, even, odd] = [fresh("early"), fresh("late"), fresh("even"), fresh("odd")];

/** The instances, the first started first; each has failed, and has an incident. */
const crowd: { instanceId: string; startedAt: string }[] = [];

beforeAll(async () => {
  await client.deploy(chain(id, [task("work", type, "1")]));
  for (let n = 0; n < CROWD; n++) {
    const businessKey = n < CROWD / 2 ? early : late;
    const request = { businessKey, tags: [n % 2 === 0 ? even : odd, id] };
    const { instanceId, startedAt } = await client.start(id, request);
    crowd.push({ instanceId, startedAt });
    await failNow(instanceId);
  }
});

const idsOf = (items: readonly Readonly<{ instanceId: string }>[]): readonly string[] =>
  items.map(({ instanceId }) => instanceId);

/** Of these instances, the newest first, as in lists. */
const those = (isIt: (n: number) => boolean) => idsOf(crowd.filter((_, n) => isIt(n)).toReversed());

describe("instances of a deployment", () => {
  test.for([
    ["business key", { businessKey: early }, (n: number) => n < CROWD / 2],
    ["tag", { tag: odd }, (n: number) => n % 2 === 1],
    ["definition", { definition: id }, () => true],
    ["business key and tag", { businessKey: late, tag: id }, (n: number) => n >= CROWD / 2],
    ["incident", { incident: true, tag: even }, (n: number) => n % 2 === 0],
    ["status and tag", { status: "suspended", tag: id }, () => true],
  ] as const)("are listed by %s, page by page, the newest first", async ([, filter, isIt]) => {
    const listed = await eventually("all to be listed", async () => {
      const found = await pagesOf(filter);
      return found.ids.length >= those(isIt).length && found;
    });

    expect(listed.ids).toEqual(those(isIt));
    expect(listed.pages).toBeGreaterThan(1);
  });

  test("are listed by their start time", async () => {
    const [after, before] = [crowd[1]?.startedAt ?? "", crowd[6]?.startedAt ?? ""];

    const listed = await eventually("all to be listed", async () => {
      const found = await pagesOf({ definition: id, startedAfter: after, startedBefore: before });
      return found.ids.length >= 4 && found;
    });

    expect(listed.ids).toEqual(those((n) => 1 < n && n < 6));
  });

  test("keep the filter of their cursor", async () => {
    const { nextCursor: cursor = "" } = await client.list({ tag: id, limit: PAGE });

    const other = client.list({ tag: odd, limit: PAGE, cursor });

    await expect(other).rejects.toMatchObject({ status: 400, code: "store/cursor-invalid" });
  });

  test("F68 have their incidents resolved by filter, after a dry run that changes nothing", async () => {
    const filter = { definition: id, tag: odd, type: "JOB_NO_RETRIES" };
    const what = { filter, variables: { card: "new" }, retries: 2 };

    const dry = await client.resolveIncidents(what);
    const untouched = await client.incidents(filter);
    const done = await everyPage((page) =>
      client.resolveIncidents({ ...what, dryRun: false, ...page }),
    );
    const again = await client.resolveIncidents({ ...what, dryRun: false });

    expect(dry).toMatchObject({ dryRun: true, matched: CROWD / 2, resolved: 0 });
    expect(untouched.items).toHaveLength(CROWD / 2);
    expect(done.pages.length).toBeGreaterThan(1);
    expect(sum(done.pages, "resolved")).toBe(CROWD / 2);
    expect(idsOf(done.items)).toEqual(those((n) => n % 2 === 1));
    expect(again).toMatchObject({ matched: 0, resolved: 0 });
    for (const instanceId of those((n) => n % 2 === 1)) {
      const { incidents, variables } = await client.get(instanceId);
      expect([incidents, variables]).toEqual([[], { card: "new" }]);
      const { items } = await client.tasks({ instanceId });
      expect(items).toMatchObject([{ retries: 2, variables: { card: "new" } }]);
    }
  });

  test("are purged by filter once they have ended, after a dry run that changes nothing", async () => {
    const gone = those((n) => n < CROWD / 2);
    for (const instanceId of gone) await client.cancel(instanceId);
    const filter = { businessKey: early, status: "cancelled" } as const;
    const [left] = those((n) => n >= CROWD / 2);

    const dry = await eventually("all to be found", async () => {
      const answer = await client.purge({ filter });
      return answer.matched === gone.length && answer;
    });
    const old = await client.purge({
      filter: { ...filter, endedBefore: crowd[0]?.startedAt ?? "" },
      dryRun: false,
    });
    const kept = await client.get(gone[0] ?? "");
    const done = await everyPage((page) => client.purge({ filter, dryRun: false, ...page }));

    expect(dry).toMatchObject({ dryRun: true, purged: 0 });
    expect(old).toMatchObject({ matched: 0, purged: 0 });
    expect(kept).toMatchObject({ status: "cancelled" });
    expect(sum(done.pages, "purged")).toBe(gone.length);
    expect(new Set(idsOf(done.items))).toEqual(new Set(gone));
    for (const instanceId of gone) {
      await expect(client.get(instanceId)).rejects.toMatchObject({ status: 404 });
    }
    expect((await client.list({ businessKey: early })).items).toEqual([]);
    expect(await client.get(left ?? "")).toMatchObject({ status: "suspended" });
  });
});

describe("a definition of a deployment whose listing is sharded", () => {
  test("lists instances from before and after in one order, and finds them by every filter", async () => {
    const [busy, nobody] = [fresh("busy"), fresh("nobody-runs-this")];
    await client.deploy(chain(busy, [task("work", nobody, "1")]));
    const begun: string[] = [];
    for (const shards of [1, 4, 8] as const) {
      expect(await client.setListing(busy, { shards })).toEqual({ definition: busy, shards });
      for (let n = 0; n < 4; n++) begun.push((await client.start(busy)).instanceId);
    }
    await failNow(begun[5] ?? "");
    await client.cancel(begun[9] ?? "");

    const listed = await eventually("all to be listed", async () => {
      const all = await pagesOf({ definition: busy });
      const [failing, over] = [
        await pagesOf({ definition: busy, incident: true }),
        await pagesOf({ definition: busy, status: "cancelled" }),
      ];
      const isThere = all.ids.length === 12 && failing.ids.length === 1 && over.ids.length === 1;
      return isThere && { all, failing, over };
    });

    expect(listed.all.ids).toEqual(begun.toReversed());
    expect([...listed.failing.ids, ...listed.over.ids]).toEqual([begun[5], begun[9]]);
    expect((await client.definition(busy)).live).toEqual({ count: 11, more: false });
    await expect(client.setListing(busy, { shards: 4 })).rejects.toMatchObject({
      status: 409,
      code: "definition/fewer-shards",
    });
  });
});

describe.concurrent("an instance of a deployment", () => {
  test("has variables set while it waits, of the process and of an open element", async (context) => {
    const { instanceId } = await client.start(id, { variables: { rate: 1 } });

    const patch = { variables: { rate: 2, note: "by hand" } };
    await client.patchVariables(instanceId, patch, { idempotencyKey: "once" });
    await client.patchVariables(instanceId, patch, { idempotencyKey: "once" });
    await client.patchVariables(instanceId, { variables: { rate: 3 }, scope: "work" });
    const nowhere = client.patchVariables(instanceId, { variables: {}, scope: "nowhere" });
    await context.expect(nowhere).rejects.toMatchObject({ status: 404 });
    const { items } = await client.tasks({ instanceId });
    await client.completeTask(items[0]?.taskId ?? "", {});

    context.expect(items).toMatchObject([{ variables: { rate: 3, note: "by hand" } }]);
    context.expect(await ended(instanceId)).toMatchObject({
      variables: { rate: 2, note: "by hand" },
    });
    const set = (await historyOf(instanceId)).filter((entry) => entry.type === "variables-patched");
    context.expect(set).toHaveLength(2);
    const afterwards = client.patchVariables(instanceId, patch);
    await context
      .expect(afterwards)
      .rejects.toMatchObject({ status: 409, code: "instance/not-live" });
  });

  test("F21 fails at its deadline, is erased, and its id is not used again", async (context) => {
    const instanceId = fresh("erased");
    const deadline = new Date(Date.now() + 4_000).toISOString();
    await client.start(id, { instanceId, deadline, variables: { secret: "of its own" } });

    const whileLive = client.erase(instanceId);
    await context.expect(whileLive).rejects.toMatchObject({ status: 409 });
    const result = await ended(instanceId);
    await client.erase(instanceId);

    context.expect(result).toMatchObject({ status: "failed", terminationKind: "timeout" });
    const gone = { status: 404, code: "instance/not-found" };
    await context.expect(client.get(instanceId)).rejects.toMatchObject(gone);
    await context.expect(client.history(instanceId)).rejects.toMatchObject(gone);
    const reused = client.start(id, { instanceId });
    await context.expect(reused).rejects.toMatchObject({ status: 409 });
    await client.erase(instanceId);
  });
});

/** Fails its only task permanently. */
async function failNow(instanceId: string): Promise<void> {
  const { items } = await client.tasks({ instanceId });
  await client.failTask(items[0]?.taskId ?? "", { message: "no card", retries: 0 });
}

async function pagesOf(
  filter: InstanceFilter,
): Promise<Readonly<{ ids: readonly string[]; pages: number }>> {
  const { items, pages } = await everyPage((page) => client.list({ ...filter, ...page }));
  return { ids: idsOf(items), pages: pages.length };
}

type Page<T> = Readonly<{ items: readonly T[]; nextCursor?: string }>;

/** Small pages, until there is no cursor any more. */
async function everyPage<T, P extends Page<T>>(
  call: (page: Readonly<{ limit: number; cursor?: string }>) => Promise<P & Page<T>>,
): Promise<Readonly<{ items: readonly T[]; pages: readonly P[] }>> {
  const pages: (P & Page<T>)[] = [];
  let cursor: string | undefined;
  do {
    const page = await call({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { items: pages.flatMap(({ items }) => items), pages };
}

const sum = <K extends string>(pages: readonly Readonly<Record<K, number>>[], of: K): number =>
  pages.reduce((total, page) => total + page[of], 0);
