import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { aDataDir } from "../support/embedded.ts";

/** What the benchmark expects of an adapter. */
type Adapter = Readonly<{
  start(kind: string, id: string): Promise<Readonly<{ result(): Promise<unknown> }>>;
  signal(id: string): Promise<unknown>;
  broadcast(): Promise<unknown>;
  diskBytes(): number;
  stop(): Promise<void>;
}>;

/** The adapter, and what it reports to the benchmark. */
async function anAdapter() {
  const { create } = await import(join(import.meta.dirname, "../../bench/peer-adapter.mjs"));
  const hits: string[] = [];
  const hooks = { hit: (id: string, what: string) => void hits.push(`${id} ${what}`) };
  const adapter = (await create({ dir: aDataDir(), hooks })) as Adapter;
  onTestFinished(() => adapter.stop());
  return { adapter, hits };
}

describe("the adapter for a benchmark of several engines", () => {
  test.each(["seq10", "fan100", "sleep1s"])("runs %s to its end", async (kind) => {
    const { adapter, hits } = await anAdapter();

    const { result } = await adapter.start(kind, "one");

    expect(await result()).toMatchObject({ status: "succeeded" });
    expect(hits).toContain("one end");
  });

  test("wakes one of the waits, or all", async () => {
    const { adapter, hits } = await anAdapter();
    const one = await adapter.start("wait", "one");
    await adapter.start("wait", "two");
    const others = [await adapter.start("waitAny", "a"), await adapter.start("waitAny", "b")];

    await adapter.signal("one");
    await adapter.broadcast();

    await Promise.all([one, ...others].map(({ result }) => result()));
    expect(hits.filter((hit) => hit.endsWith("waiting"))).toHaveLength(4);
    expect(hits.filter((hit) => hit.endsWith("end")).sort()).toEqual(["a end", "b end", "one end"]);
    expect(adapter.diskBytes()).toBeGreaterThan(0);
  });
});
