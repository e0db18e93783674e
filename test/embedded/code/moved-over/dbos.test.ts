import { afterAll, beforeAll, expect, test } from "vitest";
import { agent } from "./dbos/agent-inbox.ts";
import { processAll } from "./dbos/queue.ts";
import { runLater } from "./dbos/reminder.ts";
import { buyWidget, payWidget } from "./dbos/widget-store.ts";
import { effectsOf } from "./effects.ts";
import { type MovedOver, moved } from "./moved.ts";

let at: MovedOver;
beforeAll(async () => {
  at = await moved("dbos");
});
afterAll(() => at.close());

test("moved over from DBOS: a widget that is paid is dispatched after its progress", async () => {
  const started = await at.start(buyWidget, { order: "w-1", inStock: true });

  const paid = await at.start(payWidget, { checkout: started.instanceId, status: "paid" });
  await at.pass("PT3S");

  expect((await at.engine.result(paid)).result).toBe("delivered");
  expect((await at.engine.result(started)).result).toBe("dispatched");
  expect(effectsOf(started.instanceId)).toEqual([
    "w-1 pending",
    "reserve for w-1",
    "w-1 paid",
    "w-1 2 steps before dispatch",
    "w-1 1 steps before dispatch",
    "w-1 0 steps before dispatch",
    "w-1 dispatched",
  ]);
});

test.each([
  ["is refused", (id: string) => at.start(payWidget, { checkout: id, status: "refused" })],
  ["does not come in time", () => at.pass("PT2M")],
])("moved over from DBOS: a widget whose payment %s is given back", async (_, happens) => {
  const started = await at.start(buyWidget, { order: "w-2", inStock: true });

  await happens(started.instanceId);

  expect((await at.engine.result(started)).result).toBe("cancelled");
  expect(effectsOf(started.instanceId)).toEqual([
    "w-2 pending",
    "reserve for w-2",
    "release of w-2",
    "w-2 cancelled",
  ]);
});

test("moved over from DBOS: a widget that is not in stock is neither paid nor given back", async () => {
  const started = await at.start(buyWidget, { order: "w-3", inStock: false });

  expect((await at.engine.result(started)).result).toBe("cancelled");
  expect(effectsOf(started.instanceId)).toEqual(["w-3 pending", "w-3 cancelled"]);
});

test("moved over from DBOS: a payment for a checkout that has ended is refused", async () => {
  const ended = await at.start(buyWidget, { order: "w-4", inStock: false });

  const paid = await at.start(payWidget, { checkout: ended.instanceId, status: "paid" });

  expect(await at.engine.get(paid.instanceId)).toMatchObject({
    status: "failed",
    error: { code: "instance/ended" },
  });
});

test("moved over from DBOS: a task runs after a sleep of a month, through a restart", async () => {
  const sleepMs = 30 * 86_400_000;
  const { instanceId } = await at.start(runLater, { task: "renew", sleepMs });

  await at.pass("P29D");
  await at.restart();
  const before = effectsOf(instanceId);
  await at.pass("P1D");

  expect(before).toEqual([]);
  expect((await at.engine.get(instanceId)).result).toEqual({ slept: sleepMs });
  expect(effectsOf(instanceId)).toEqual(["renew"]);
});

test("moved over from DBOS: a queue runs two tasks at once, and keeps the order of results", async () => {
  const tasks = ["a", "broken b", "c", "d", "e"];

  const started = await at.start(processAll, { tasks, atOnce: 2 });

  expect((await at.engine.result(started)).result).toEqual(["A", "BROKEN", "C", "D", "E"]);
  const effects = effectsOf(started.instanceId);
  expect(effects.filter((effect) => effect.startsWith("begin"))).toHaveLength(5);
  expect(mostAtOnce(effects)).toBe(2);
});

/** How many tasks had begun and not ended, at most. */
function mostAtOnce(effects: readonly string[]): number {
  let open = 0;
  return Math.max(...effects.map((effect) => (open += effect.startsWith("begin") ? 1 : -1)));
}

test.each([
  ["approve", "done: refund", ["refund"]],
  ["deny", "denied", []],
])(
  "moved over from DBOS: an agent does what a person says: %s",
  async (answer, result, effects) => {
    const started = await at.start(agent, { task: "refund" });
    await at.pass("P6D");

    await at.send(started, "approval", answer);

    expect((await at.engine.result(started)).result).toBe(result);
    expect(effectsOf(started.instanceId)).toEqual(effects);
  },
);

test("moved over from DBOS: an agent gives up after a week, and its inbox lists it until then", async () => {
  const started = await at.start(agent, { task: "refund" });
  const { items } = await at.engine.waits(started.instanceId);

  await at.pass("P7D");

  expect(items.map(({ element }) => element)).toEqual(["event:approval", "timer"]);
  expect((await at.engine.result(started)).result).toBe("timed out");
  expect(effectsOf(started.instanceId)).toEqual([]);
});
