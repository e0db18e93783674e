import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { MAX_SHARDS_PER_PAGE } from "../../../lib/definition/limits.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const marker = bpmn.loop({ inputCollection: "=items", inputElement: "item" });
const each = bpmn.xml("serviceTask", { id: "each" }, bpmn.extensions(bpmn.job("each")), marker);

/** An instance that waits for as many tasks as are asked for. */
async function aLoop(size: number) {
  const { engine, drain } = aPlainWorld();
  await engine.deploy({ notation: "bpmn", source: bpmn.sequence(each) });
  const items = Array.from({ length: size }, (_, n) => n);
  await engine.start("p", { instanceId: "i", variables: { items } });
  await drain();
  const page = async (cursor?: string) => {
    const asked = { limit: 2, ...(cursor !== undefined && { cursor }) };
    const { items: tasks, nextCursor } = await engine.tasks({ instanceId: "i" }, asked);
    return { ids: tasks.map(({ taskId }) => taskId), nextCursor };
  };
  return { engine, page };
}

describe("the tasks of an instance, page by page", () => {
  test.each([
    ["tickets of their own", 5, (n: number) => `i.k1.${n + 1}`],
    ["items of a batch", 11, (n: number) => `i.f1.1#${n}`],
  ])("continue after a task that is completed by then: %s", async (_, size, idOf) => {
    const { engine, page } = await aLoop(size);
    const first = await page();
    await engine.completeTask(first.ids[1] ?? "");

    const second = await page(first.nextCursor);

    expect(first.ids).toEqual([idOf(0), idOf(1)]);
    expect(second.ids).toEqual([idOf(2), idOf(3)]);
  });

  test("are in the order in which they were opened, also from ten on", async () => {
    const { page } = await aLoop(11);
    const seen: string[] = [];
    for (let cursor: string | undefined, n = 0; n < 6; n++) {
      const { ids, nextCursor } = await page(cursor);
      seen.push(...ids);
      cursor = nextCursor;
    }

    expect(seen).toEqual(Array.from({ length: 11 }, (_, n) => `i.f1.1#${n}`));
  });

  test("have no page after an id that is not a task", async () => {
    const { page } = await aLoop(5);

    await expect(page("nothing")).rejects.toMatchObject({ code: "store/cursor-invalid" });
  });
});

describe("a list of all tasks, where there have been many types", () => {
  test("reads a limited number of shards per page, and leaves none out", async () => {
    const store = new SimulatedStore({});
    let scans = 0;
    const scan = store.scan.bind(store);
    store.scan = (...asked) => {
      scans += 1;
      return scan(...asked);
    };
    const { engine, drain } = aPlainWorld({ store });
    const typed = bpmn.xml("serviceTask", { id: "work" }, bpmn.extensions(bpmn.job("=type")));
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(typed) });
    const types = Array.from({ length: MAX_SHARDS_PER_PAGE + 20 }, (_, n) => `type/${n}`);
    for (const type of types)
      await engine.start("p", { instanceId: type.replace("/", "-"), variables: { type } });
    await drain();
    for (const type of types.slice(0, -2)) {
      await engine.completeTask(`${type.replace("/", "-")}.k1.1`);
    }

    const seen: string[] = [];
    let [pages, most] = [0, 0];
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
      scans = 0;
      const page = await engine.tasks({}, { limit: 10, ...(cursor !== undefined && { cursor }) });
      most = Math.max(most, scans);
      seen.push(...page.items.map(({ type }) => type));
      cursor = page.nextCursor;
    }

    expect(seen.toSorted()).toEqual(types.slice(-2).toSorted());
    expect(pages).toBeGreaterThan(1);
    // And one of the list of user tasks.
    expect(most).toBeLessThanOrEqual(MAX_SHARDS_PER_PAGE + 1);
  });
});
