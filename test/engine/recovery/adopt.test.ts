import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const source = bpmn.sequence(bpmn.service("work"));

describe("a handler that is deployed later", () => {
  test("runs the tasks that were offered before it was deployed", async () => {
    const store = new SimulatedStore({});
    const before = aPlainWorld({ store });
    await before.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await before.engine.start("p");
    await before.drain();
    const after = aPlainWorld({ store, tasks: { work: () => ({ done: true }) } });

    const adopted = await after.engine.adopt();
    await after.drain();

    expect(adopted).toBe(1);
    expect(await after.engine.get(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { done: true },
    });
  });

  test("gets each of them once, and none that are completed", async () => {
    const store = new SimulatedStore({});
    const before = aPlainWorld({ store });
    await before.engine.deploy({ notation: "bpmn", source });
    const ids = ["a", "b", "c"];
    for (const instanceId of ids) await before.engine.start("p", { instanceId });
    await before.drain();
    await before.engine.cancel("b");
    const after = aPlainWorld({ store, tasks: { work: () => ({}) } });

    const counts = [await after.engine.adopt(), await after.engine.adopt()];

    expect(counts).toEqual([2, 0]);
    expect(after.queued.map((it) => "instanceId" in it && it.instanceId)).toEqual(["a", "c"]);
  });

  test("that is removed again leaves them to workers", async () => {
    const store = new SimulatedStore({});
    const without = aPlainWorld({ store });
    await without.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await without.engine.start("p");
    await without.drain();
    const withIt = aPlainWorld({ store, tasks: { work: () => ({}) } });
    await withIt.engine.adopt();

    without.queued.push(...withIt.queued);
    await without.drain();

    const { items } = await without.engine.tasks({ type: "work" }, { limit: 10 });
    expect(items).toMatchObject([{ instanceId, runsHere: false }]);
  });

  test("stops adopting when its time is over", async () => {
    const { engine } = aPlainWorld({ tasks: { work: () => ({}) } });

    expect(await engine.adopt({ hasTime: () => false })).toBe(0);
  });
});
