import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const here = import.meta.dirname;
const small = { total: 42, items: [{ sku: "mug", quantity: 2 }] };
const large = { total: 740, items: [{ sku: "espresso-machine", quantity: 1 }] };

describe("the order example", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-order-"));
    engine = await openEngine({ dataDir, clock: "virtual", tasks: join(here, "tasks") });
    await engine.deploy(readFileSync(join(here, "order.bpmn"), "utf8"));
  });

  afterEach(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  /** Starts an order and lets the minute pass in which everything runs by itself. */
  async function ordered(variables: typeof small & { card?: string; paymentWithin?: string }) {
    const { instanceId } = await engine.start("order", { variables });
    await engine.advanceClock("PT1M");
    return instanceId;
  }

  /** The element's entries of a history, by type. */
  async function stepsOf(instanceId: string, element: string) {
    const { items } = await engine.history(instanceId);
    return items.filter((entry) => entry.element === element).map(({ type }) => type);
  }

  test("ships a small order without an approval", async () => {
    const id = await ordered(small);

    const { status, variables } = await engine.result(id);

    expect(status).toBe("succeeded");
    expect(variables).toMatchObject({ outcome: "shipped", reserved: 2, invoice: { amount: 42 } });
    expect(await stepsOf(id, "await-payment")).toEqual([]);
  });

  test("tries the card again after a failed attempt, two seconds later", async () => {
    const { instanceId } = await engine.start("order", { variables: small });

    await engine.advanceClock("PT3S");
    const { items: waits } = await engine.waits(instanceId);
    await engine.advanceClock("PT2S");

    expect(waits).toMatchObject([{ kind: "task", element: "charge-card", runsHere: true }]);
    expect(await stepsOf(instanceId, "charge-card")).toEqual([
      "element-entered",
      "task-failed",
      "task-completed",
      "element-completed",
    ]);
  });

  test("waits for the bank's approval of a large order, and ships when it arrives", async () => {
    const id = await ordered(large);
    const { items: open } = await engine.tasks({ instanceId: id });
    const [task] = open;

    await engine.complete(task?.taskId ?? "none", { variables: { bankReference: "B-77" } });
    await engine.idle();

    expect(task).toMatchObject({ type: "await-payment", runsHere: false });
    const { variables } = await engine.result(id);
    expect(variables).toMatchObject({ outcome: "shipped", bankReference: "B-77" });
  });

  test("refunds and releases when the payment deadline passes", async () => {
    const id = await ordered({ ...large, paymentWithin: "PT15M" });

    await engine.advanceClock("PT15M");

    const { variables } = await engine.result(id);
    expect(variables).toMatchObject({ outcome: "not paid in time", reservation: null });
    expect(variables.refunded).toBe(variables.charge);
    expect(await stepsOf(id, "await-payment")).toEqual(["element-entered", "element-terminated"]);
  });

  test("allows a day for payment unless the order sets another time", async () => {
    const id = await ordered(large);

    const { items } = await engine.waits(id);

    const deadline = items.find(({ element }) => element === "payment-deadline");
    const givenMs = Date.parse(deadline?.dueAt ?? "") - Date.parse(deadline?.since ?? "");
    expect(givenMs).toBe(24 * 60 * 60 * 1000);
  });

  test("cancels an order whose card is declined, without further attempts", async () => {
    const id = await ordered({ ...small, card: "declined" });

    const { status, variables } = await engine.result(id);

    expect(status).toBe("succeeded");
    expect(variables).toMatchObject({ outcome: "card declined", reservation: null });
    expect(await stepsOf(id, "card-declined")).toContain("error-caught");
    expect(await stepsOf(id, "charge-card")).toEqual([
      "element-entered",
      "task-failed",
      "task-failed",
      "element-terminated",
    ]);
  });
});
