import { describe, expect, test } from "vitest";
import { SimulatedBlobs } from "../../../lib/adapters/simulated/blobs.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import type { Key } from "../../../lib/ports/store.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const SECRET = "the customer's secret ".repeat(40_000);

const KEPT_AS_DEAD_LETTERS = {
  consumeOnRead: true,
  deliveryMode: "AfterWait",
  expireAfter: "P7D",
  onTargetTerminated: "deadLetter",
} as const;

/** An instance that has ended, and has left a long history and a large value behind. */
async function anEnded() {
  const store = new SimulatedStore({});
  const blobs = new SimulatedBlobs();
  const world = aPlainWorld({ store, blobs, tasks: { work: () => ({ secret: SECRET }) } });
  await world.engine.deploy({ notation: "bpmn", source: bpmn.sequence(bpmn.service("work")) });
  const { instanceId } = await world.engine.start("p", { instanceId: "i1", businessKey: "mine" });
  await world.drain();
  return { ...world, store, blobs, instanceId };
}

describe("erasing an instance", () => {
  test("leaves none of its data", async () => {
    const { engine, store, blobs, instanceId } = await anEnded();
    expect([...blobs.names().keys()]).toHaveLength(1);

    await engine.erase(instanceId);

    const { items } = await store.scan("default#I#i1", { limit: 100 });
    expect(items.map(({ key }) => key.sk)).toEqual(["S"]);
    expect(new TextDecoder().decode(items[0]?.body)).not.toMatch(/secret|mine/);
    expect([...blobs.names().keys()]).toEqual([]);
  });

  test("leaves no row that points to it", async () => {
    const { engine, instanceId } = await anEnded();

    await engine.erase(instanceId);

    const gone = { code: "instance/not-found" };
    await expect(engine.get(instanceId)).rejects.toMatchObject(gone);
    await expect(engine.result(instanceId)).rejects.toMatchObject(gone);
    await expect(engine.history(instanceId, { limit: 10 })).rejects.toMatchObject(gone);
    await expect(engine.cancel(instanceId)).rejects.toMatchObject(gone);
    expect((await engine.list({}, { limit: 10 })).items).toEqual([]);
  });

  test("can be repeated, and reserves its id", async () => {
    const { engine, instanceId } = await anEnded();

    await engine.erase(instanceId);
    await engine.erase(instanceId);

    const again = engine.start("p", { instanceId, businessKey: "mine" });
    await expect(again).rejects.toMatchObject({ code: "instance/id-taken" });
  });

  test("continues where an earlier attempt crashed", async () => {
    const { engine, store, blobs, instanceId } = await anEnded();
    const scan = store.scan.bind(store);
    store.scan = () => Promise.reject(new Error("killed"));
    await expect(engine.erase(instanceId)).rejects.toThrow("killed");
    store.scan = scan;

    await engine.erase(instanceId);

    expect((await store.scan("default#I#i1", { limit: 100 })).items).toHaveLength(1);
    expect([...blobs.names().keys()]).toEqual([]);
  });

  test("is refused while it is live, and loses nothing", async () => {
    const { engine } = await anEnded();
    const wait = bpmn.xml(
      "intermediateCatchEvent",
      { id: "wait" },
      bpmn.timer("timeDuration", "P1D"),
    );
    const source = bpmn.sequence(wait).replace('id="p"', 'id="waits"');
    await engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await engine.start("waits", { variables: { kept: 1 } });

    await expect(engine.erase(instanceId)).rejects.toMatchObject({ code: "instance/not-ended" });

    expect((await engine.get(instanceId)).variables).toEqual({ kept: 1 });
  });

  test("first sends what its end still owes", async () => {
    const { engine, queued } = aPlainWorld();
    const source = bpmn.sequence(bpmn.service("work"));
    await engine.deploy({ notation: "bpmn", source });
    await engine.setEventType("unread", KEPT_AS_DEAD_LETTERS);
    await engine.start("p", { instanceId: "i1" });
    await engine.event({ name: "unread", target: "i1", payload: { kept: true } });
    await engine.cancel("i1");
    queued.length = 0;
    expect((await engine.deadLetters({}, { limit: 10 })).items).toEqual([]);

    await engine.erase("i1");

    const { items } = await engine.deadLetters({}, { limit: 10 });
    expect(items).toMatchObject([{ name: "unread", payload: { kept: true }, target: "i1" }]);
  });

  test("is refused for an unknown id", async () => {
    const { engine } = await anEnded();

    await expect(engine.erase("nobody")).rejects.toMatchObject({ code: "instance/not-found" });
  });

  test("is not undone by a late request to let the rest expire", async () => {
    const isValue = ({ sk }: Key) => sk.startsWith("V#");
    let erasing: Promise<void> | undefined;
    const hasEnded = () => store.items().some(({ key, expiresAt }) => key.sk === "S" && expiresAt);
    // A redelivery puts the value again and lets it expire: directly before that, all is erased.
    const store: SimulatedStore = new SimulatedStore({
      turn: async (point, keys) => {
        const isIt = point === "commit:before" && keys.some(isValue) && hasEnded();
        if (!isIt || erasing !== undefined) return undefined;
        erasing = aPlainWorld({ store, tasks }).engine.erase("i1");
        await erasing;
        return undefined;
      },
    });
    const tasks = { work: () => ({ kept: "x".repeat(70_000) }) };
    const { engine, drain } = aPlainWorld({ store, tasks });
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(bpmn.service("work")) });
    await engine.start("p", { instanceId: "i1" });

    await drain();

    expect(erasing).toBeDefined();
    const { items } = await store.scan("default#I#i1", { limit: 100 });
    expect(items.map(({ key }) => key.sk)).toEqual(["S"]);
  });
});
