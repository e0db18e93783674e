import { describe, expect, test } from "vitest";
import * as bpmn from "../support/bpmn-xml.ts";
import { GatedStore, type Meant } from "../support/gated-store.ts";
import { aPlainWorld } from "../support/plain-world.ts";

const source = bpmn.sequence(bpmn.service("work"));
const poll = { type: "work", max: 10, lockSeconds: 30, worker: "anna" };

const locksTask: Meant = (keys) => keys.some(({ sk }) => sk.startsWith("L#"));

/** One task waits, and the poll that is about to lock it stands still until it is let go. */
async function aPollThatStands({ volatileQueues }: { volatileQueues: boolean }) {
  const gated = new GatedStore();
  const { engine, drain } = aPlainWorld({ store: gated.store, settings: { volatileQueues } });
  await engine.deploy({ notation: "bpmn", source });
  await engine.start("p");
  await drain();
  const gate = Promise.withResolvers<void>();
  const standing = Promise.withResolvers<void>();
  gated.before(locksTask, () => {
    standing.resolve();
    return gate.promise;
  });
  const first = engine.activate(poll);
  await standing.promise;
  return { engine, first, letGo: () => gate.resolve() };
}

describe("a poll that stands still with a task in its hands", () => {
  test("does not keep the task from the next one, since it may never go on", async () => {
    const { engine, first, letGo } = await aPollThatStands({ volatileQueues: false });

    const next = await engine.activate({ ...poll, worker: "bert" });
    letGo();

    expect(next.tasks).toHaveLength(1);
    expect((await first).tasks).toEqual([]);
  });

  test("is not fought by others of its process, where all end together", async () => {
    const { engine, first, letGo } = await aPollThatStands({ volatileQueues: true });

    const next = await engine.activate({ ...poll, worker: "bert" });
    letGo();

    expect(next.tasks).toEqual([]);
    expect((await first).tasks).toHaveLength(1);
  });
});
