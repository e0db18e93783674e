import { describe, expect, test } from "vitest";
import { SimulatedBlobs } from "../../../lib/adapters/simulated/blobs.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import type { Variables } from "../../../lib/definition/json.ts";
import { formatInstant } from "../../../lib/definition/time/instant.ts";
import { instanceKey } from "../../../lib/engine/storage/keys.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { extensions, file, flow, job, process, start, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const STEPS = Array.from({ length: 100 }, (_, n) => `step-${n}`);
const task = (id: string, type: string) => xml("serviceTask", { id }, extensions(job(type)));

/** Many tasks with a handler, then one that waits for a worker. */
const source = file(
  process(
    start(),
    ...STEPS.map((id) => task(id, "step")),
    task("wait", "wait"),
    ...STEPS.map((id, n) => flow(`f${n}`, n === 0 ? "start" : (STEPS[n - 1] ?? ""), id)),
    flow("last", STEPS.at(-1) ?? "", "wait"),
  ),
);

const DAY = 86_400_000;
const document = "x".repeat(3_000);
const large = "y".repeat(400_000);

/**
 * The same id starts, ends and expires, except for what was moved out of it; then it may start
 * again.
 */
async function aWorld() {
  const store = new SimulatedStore({});
  const blobs = new SimulatedBlobs();
  const world = aPlainWorld({ store, blobs, tasks: { step: () => ({}) } });
  await world.engine.deploy({ notation: "bpmn", source });
  const begin = async (variables: Variables) => {
    await world.engine.start("p", { instanceId: "i", variables });
    await world.drain();
  };
  const live = async (variables: Variables) => {
    await begin(variables);
    const { items } = await world.engine.tasks({ instanceId: "i" }, { limit: 1 });
    await world.engine.completeTask(items[0]?.taskId ?? "");
    await world.drain();
    world.moveTo(world.now() + DAY);
    await store.commit([{ remove: instanceKey("default", "i"), when: "exists" }]);
  };
  return { ...world, store, blobs, begin, live };
}

const leftBy = (store: SimulatedStore, kind: "T" | "V"): readonly Item[] =>
  store.items().filter(({ key }) => key.pk.endsWith("#I#i") && key.sk.startsWith(`${kind}#`));

describe("an id that is reused after erasure", () => {
  test("keeps the values of the new instance, although the store still has to remove the old ones", async () => {
    const world = await aWorld();
    await world.live({ document, large });
    const old = leftBy(world.store, "V");

    await world.begin({ document, large });

    expect(old.map(({ expiresAt }) => expiresAt !== undefined)).toEqual([true, true]);
    const values = leftBy(world.store, "V");
    expect(values.map(({ expiresAt }) => expiresAt)).toEqual([undefined, undefined]);
    expect([...world.blobs.names().values()]).toEqual(["kept"]);
    expect((await world.engine.get("i")).variables).toMatchObject({ document, large });
  });

  test("removes them with the end of the new instance", async () => {
    const world = await aWorld();
    await world.live({ document });

    await world.live({ document });

    const [value] = leftBy(world.store, "V");
    expect(value?.expiresAt).toBe(world.now());
  });

  test("has the history of the new instance alone", async () => {
    const world = await aWorld();
    await world.live({ text: "x".repeat(450) });
    const old = leftBy(world.store, "T");
    const startedAt = formatInstant(world.now());

    await world.begin({ text: "x".repeat(150) });

    const first = await world.engine.history("i", { limit: 200 });
    const rest = await world.engine.history("i", { limit: 200, cursor: first.nextCursor ?? "" });
    const items = [...first.items, ...rest.items];
    expect(old.length).toBeGreaterThan(0);
    expect(leftBy(world.store, "T").length).toBeGreaterThan(old.length);
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, n) => n + 1));
    expect(items.filter(({ at }) => at < startedAt)).toEqual([]);
  });
});
