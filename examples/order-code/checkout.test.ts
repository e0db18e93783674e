import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkout, type Order } from "./workflows/checkout.ts";

const order = { orderId: "1001", total: 42 };

describe("the order in TypeScript (D23)", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-checkout-"));
    engine = await open();
  });

  afterAll(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  const open = () =>
    openEngine({ dataDir, clock: "virtual", workflows: join(import.meta.dirname, "workflows") });

  async function ordered(input: Order = order) {
    const started = await engine.start(checkout, { input });
    await engine.idle();
    return started;
  }

  /** The types of the tasks that were done, in their order. */
  async function tasksOf(instanceId: string) {
    const { items } = await engine.history(instanceId);
    return items.filter(({ type }) => type === "task-completed").map(({ element }) => element);
  }

  test("ships when the customer does not cancel for two days", async () => {
    const started = await ordered();

    await engine.advanceClock("P2D");

    const { status, result } = await engine.result(started);
    expect(status).toBe("succeeded");
    expect(result).toEqual({ status: "shipped", parcel: "parcel-1001" });
  });

  test("waits at the line of the race, until the last second", async () => {
    const { instanceId } = await ordered();

    await engine.advanceClock("PT47H59M59S");

    const { items } = await engine.waits(instanceId);
    expect(items.map(({ element, at }) => [element, at?.file])).toEqual([
      ["event:cancel-order", "checkout.ts"],
      ["timer", "checkout.ts"],
    ]);
  });

  test("refunds the payment and releases the items when the customer cancels", async () => {
    const started = await ordered();

    await engine.event({
      name: "cancel-order",
      target: started.instanceId,
      payload: { reason: "too late" },
    });

    const { result } = await engine.result(started);
    expect(result).toEqual({ status: "cancelled", reason: "too late" });
    expect(await tasksOf(started.instanceId)).toContain("refund-payment");
    expect(await tasksOf(started.instanceId)).not.toContain("ship-parcel");
  });

  test("keeps a cancellation that comes before the order waits for it", async () => {
    const started = await engine.start(checkout, { input: order });

    await engine.event({ name: "cancel-order", target: started.instanceId, payload: null });

    const { result } = await engine.result(started);
    expect(result).toEqual({ status: "cancelled", reason: "no reason given" });
  });

  test("releases the items of an order whose card is declined, without further attempts", async () => {
    const started = await ordered({ ...order, card: "declined" });

    const { status, result } = await engine.result(started);

    expect([status, result?.status]).toEqual(["succeeded", "cancelled"]);
    const { items } = await engine.history(started.instanceId);
    expect(items.filter(({ type }) => type === "task-failed")).toHaveLength(1);
    expect(await tasksOf(started.instanceId)).toContain("release-items");
  });

  test("continues after a restart, and runs no step again", async () => {
    const { instanceId } = await ordered();

    await engine.close();
    engine = await open();
    await engine.advanceClock("P2D");

    const { result } = await engine.result(instanceId);
    expect(result).toEqual({ status: "shipped", parcel: "parcel-1001" });
    const tasks = await tasksOf(instanceId);
    expect(tasks.toSorted()).toEqual(["hold-items", "ship-parcel", "take-payment"]);
  });
});
