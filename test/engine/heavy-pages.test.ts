import { describe, expect, test } from "vitest";
import { MAX_PAGE_BYTES } from "../../lib/definition/limits.ts";
import * as bpmn from "../support/bpmn-xml.ts";
import { aPlainWorld } from "../support/plain-world.ts";

const MEGABYTE = "x".repeat(1_000_000);

/** Three instances that each wait at a task, with a megabyte at hand. */
async function heavyWorld() {
  const world = aPlainWorld({ tasks: { fill: () => ({ heavy: MEGABYTE, more: `${MEGABYTE}!` }) } });
  const source = bpmn.file(
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
  await world.engine.deploy({ notation: "bpmn", source });
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

describe("a page that would be too heavy for an answer", () => {
  test.each([
    ["instances", "list"],
    ["tasks", "tasks"],
  ] as const)("is cut short, and none of the %s is left out", async (_, call) => {
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
});
