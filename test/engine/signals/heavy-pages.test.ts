import { describe, expect, test } from "vitest";
import { MAX_ACTIVATED_BYTES, MAX_PAGE_BYTES } from "../../../lib/definition/limits.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const MEGABYTE = "x".repeat(1_000_000);

const filledByHand = bpmn.file(
  bpmn.process(
    bpmn.start(),
    bpmn.xml("serviceTask", { id: "fill" }, bpmn.extensions(bpmn.job("fill"))),
    bpmn.xml("serviceTask", { id: "by-hand" }, bpmn.extensions(bpmn.job("by-hand"))),
    bpmn.end(),
    bpmn.flow("f1", "start", "fill"),
    bpmn.flow("f2", "fill", "by-hand"),
    bpmn.flow("f3", "by-hand", "end"),
  ),
);

/** Three instances that each wait at a task, with a megabyte of variables. */
async function heavyWorld() {
  const world = aPlainWorld({ tasks: { fill: () => ({ heavy: MEGABYTE, more: `${MEGABYTE}!` }) } });
  await world.engine.deploy({ notation: "bpmn", source: filledByHand });
  for (const instanceId of ["a", "b", "c"]) await world.engine.start("p", { instanceId });
  await world.drain();
  return world;
}

type Paged = Readonly<{ items: readonly { instanceId: string }[]; nextCursor?: string }>;

async function readAll(read: (page: { limit: number; cursor?: string }) => Promise<Paged>) {
  const pages: Paged[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: 200, ...(cursor !== undefined && { cursor }) });
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe("a page that would be too large for a response", () => {
  test.each([
    ["instances", "list"],
    ["tasks", "tasks"],
  ] as const)("is cut short, and leaves out none of the %s", async (_, call) => {
    const { engine } = await heavyWorld();

    const pages = await readAll((page) =>
      engine[call](call === "tasks" ? { type: "by-hand" } : {}, page),
    );

    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) {
      expect(JSON.stringify(page).length).toBeLessThan(MAX_PAGE_BYTES + 1_000_000);
    }
    const ids = pages.flatMap(({ items }) => items.map(({ instanceId }) => instanceId));
    expect(ids.toSorted()).toEqual(["a", "b", "c"]);
  });

  test("counts bytes, and not characters", async () => {
    const { engine, drain } = aPlainWorld({
      tasks: { fill: () => ({ heavy: "字".repeat(600_000) }) },
    });
    await engine.deploy({ notation: "bpmn", source: filledByHand });
    for (const instanceId of ["a", "b", "c"]) await engine.start("p", { instanceId });
    await drain();

    const { items, nextCursor } = await engine.tasks({ type: "by-hand" }, { limit: 200 });

    expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(MAX_PAGE_BYTES);
    expect(nextCursor).toBeDefined();
  });

  test("of one instance's tasks is cut short as well", async () => {
    const { engine, drain } = aPlainWorld();
    const marker = bpmn.loop({ inputCollection: "=items", inputElement: "item" });
    const each = bpmn.xml("serviceTask", { id: "each" }, bpmn.extensions(bpmn.job("each")), marker);
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(each) });
    const variables = { heavy: MEGABYTE, items: Array.from({ length: 12 }, (_, n) => n) };
    const { instanceId } = await engine.start("p", { variables });
    await drain();

    const pages = await readAll((page) => engine.tasks({ instanceId }, page));

    for (const page of pages) {
      expect(JSON.stringify(page).length).toBeLessThan(MAX_PAGE_BYTES + 1_000_000);
    }
    expect(pages.flatMap(({ items }) => items)).toHaveLength(12);
  });

  test("of a poll holds little more than one large task, and the others stay for the next", async () => {
    const { engine } = await heavyWorld();
    const poll = { type: "by-hand", max: 10, lockSeconds: 60, worker: "anna" };

    const answers = [await engine.activate(poll), await engine.activate(poll)];
    const third = await engine.activate(poll);

    for (const { tasks } of [...answers, third]) {
      expect(tasks).toHaveLength(1);
      expect(JSON.stringify(tasks).length).toBeGreaterThan(MAX_ACTIVATED_BYTES);
    }
  });
});
