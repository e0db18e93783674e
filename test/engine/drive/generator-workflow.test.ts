import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import { instanceKey } from "../../../lib/engine/storage/keys.ts";
import { race, task, timer, type Workflow } from "../../support/generator-runner.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const order: Workflow = function* ({ total }) {
  const receipt = yield task("charge", { total: total ?? 0 });
  const first = yield race({ shipped: task("ship"), late: timer(3_600_000) });
  return { receipt, first };
};

async function anOrder() {
  const world = aPlainWorld({
    tasks: { charge: ({ total }) => ({ paid: total ?? null }) },
    workflows: new Map([["order", order]]),
  });
  await world.engine.deploy({ notation: "code", source: "order" });
  const { instanceId } = await world.engine.start("order", { variables: { total: 42 } });
  await world.drain();
  return { world, instanceId };
}

describe("a workflow in code", () => {
  test("runs through the same engine: tasks, waits and results", async () => {
    const { world, instanceId } = await anOrder();
    const { items } = await world.engine.tasks({ type: "ship" }, { limit: 10 });

    await world.engine.completeTask(items[0]?.taskId ?? "", { variables: { parcel: 7 } });
    await world.drain();

    expect(await world.engine.result(instanceId)).toMatchObject({
      status: "succeeded",
      result: {
        receipt: { paid: 42 },
        first: { winner: "shipped", value: { parcel: 7 } },
      } satisfies Json,
    });
    expect((await world.engine.waits(instanceId)).items).toEqual([]);
  });

  test("that loses its race to the timer leaves no task behind", async () => {
    const { world, instanceId } = await anOrder();
    const { items } = await world.engine.tasks({ type: "ship" }, { limit: 10 });
    world.moveTo(world.now() + 3_600_000);
    const invocation = { id: "timer", until: world.now(), mayContinue: false };

    const fired = await world.engine.wake(instanceKey("default", instanceId), invocation);

    expect(fired).toBe(1);
    expect(await world.engine.result(instanceId)).toMatchObject({
      result: { first: { winner: "late" } },
    });
    const late = world.engine.completeTask(items[0]?.taskId ?? "");
    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
  });
});
