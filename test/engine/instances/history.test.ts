import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import type { Variables } from "../../../lib/definition/json.ts";
import type { HistoryEntry } from "../../../lib/shapes/instances.ts";
import { end, extensions, file, flow, job, process, start, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const TASKS = 600;

const chain = () => {
  const ids = Array.from({ length: TASKS }, (_, n) => `step-${n}`);
  return file(
    process(
      start(),
      ...ids.map((id) => xml("serviceTask", { id }, extensions(job("step")))),
      end(),
      ...["start", ...ids].map((id, n) => flow(`to-${n}`, id, ids[n] ?? "end")),
    ),
  );
};

/** A chain that has run to its end; the store counts the chunks that it returns. */
async function aLongHistory() {
  const chunks = { stored: 0, read: 0 };
  const store = new SimulatedStore({
    turn: async (point, keys) => {
      const found = keys.filter(({ sk }) => sk.startsWith("T#")).length;
      if (point === "scan:after" || point === "get:after") chunks.read += found;
      return undefined;
    },
  });
  const step = ({ n }: Variables) => {
    world.moveTo(world.now() + 1_234);
    return { n: Number(n) + 1 };
  };
  const world = aPlainWorld({ store, tasks: { step } });
  await world.engine.deploy({ notation: "bpmn", source: chain() });
  await world.engine.start("p", { instanceId: "i", variables: { n: 0 } });
  await world.drain();
  chunks.stored = store.items().filter(({ key }) => key.sk.startsWith("T#")).length;
  chunks.read = 0;
  return { ...world, chunks };
}

/** Every page of a history, and how many chunks each of them has read. */
async function pagesOf(
  { engine, chunks }: Awaited<ReturnType<typeof aLongHistory>>,
  limit: number,
) {
  const pages: Readonly<{ items: readonly HistoryEntry[]; read: number }>[] = [];
  let cursor: string | undefined;
  do {
    chunks.read = 0;
    const page = await engine.history("i", { limit, ...(cursor !== undefined && { cursor }) });
    pages.push({ items: page.items, read: chunks.read });
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe("a page of a long history", () => {
  test.each([
    [10, 2],
    [200, 4],
  ])("of %i entries reads at most %i chunks, however old it is", async (limit, most) => {
    const world = await aLongHistory();

    const pages = await pagesOf(world, limit);

    expect(world.chunks.stored).toBeGreaterThan(10);
    expect(Math.max(...pages.map(({ read }) => read))).toBeLessThanOrEqual(most);
    const items = pages.flatMap((page) => page.items);
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, n) => n + 1));
    expect(items.filter(({ type }) => type === "task-completed")).toHaveLength(TASKS);
    expect(pages.slice(0, -1).every((page) => page.items.length === limit)).toBe(true);
  });

  test("reads no chunk if all of it is in the instance", async () => {
    const world = await aLongHistory();

    const pages = await pagesOf(world, 5);

    expect(pages.at(-1)?.read).toBe(0);
  });

  test.each(["x", "-1", "1.5.2", "7.9", "7.0", "", "1e3", "300.299"])(
    "is refused with a cursor that no page returned: %s",
    async (cursor) => {
      const { engine } = await aLongHistory();

      const page = engine.history("i", { limit: 10, cursor });

      await expect(page).rejects.toMatchObject({ code: "store/cursor-invalid" });
    },
  );
});

describe("a visit", () => {
  test("has the same number in all its history entries, in chunks and in the instance", async () => {
    const world = await aLongHistory();

    const items = (await pagesOf(world, 200)).flatMap((page) => page.items);

    const visits = Map.groupBy(
      items.filter(({ occurrence }) => occurrence !== undefined),
      ({ occurrence }) => occurrence,
    );
    expect(visits.size).toBe(TASKS + 2);
    for (const [, entries] of visits) {
      expect(new Set(entries.map(({ element }) => element)).size).toBe(1);
      expect(entries.map(({ type }) => type).filter((type) => type !== "task-completed")).toEqual([
        "element-entered",
        "element-completed",
      ]);
    }
  });
});
