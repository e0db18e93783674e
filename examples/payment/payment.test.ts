import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const here = import.meta.dirname;
const confirmation = {
  name: "payment-confirmed",
  correlationKey: "1001",
  payload: { amount: 99 },
  messageId: "bank-7",
};

describe("the payment example", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-payment-"));
    engine = await openEngine({ dataDir, clock: "virtual", tasks: join(here, "tasks") });
    await engine.deploy(readFileSync(join(here, "payment.bpmn"), "utf8"));
  });

  afterEach(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  async function placed(orderId: string | number, more: { payWithin?: string } = {}) {
    const { instanceId } = await engine.start("payment", { variables: { orderId, ...more } });
    await engine.idle();
    return instanceId;
  }

  test("takes a confirmation that arrives while the order waits", async () => {
    const [other, id] = [await placed("1000"), await placed("1001")];

    const answer = await engine.message(confirmation);

    expect(answer).toMatchObject({ outcome: "delivered", instanceId: id });
    const { variables } = await engine.result(id);
    expect(variables).toMatchObject({ outcome: "paid", paidAmount: 99, parcel: "parcel-of-1001" });
    expect(await engine.get(other)).toMatchObject({ status: "suspended" });
  });

  test("takes a confirmation that arrived before the order", async () => {
    const answer = await engine.message(confirmation);

    const id = await placed(1001);

    expect(answer).toMatchObject({ outcome: "buffered" });
    const { variables } = await engine.result(id);
    expect(variables).toMatchObject({ outcome: "paid", paidAmount: 99 });
  });

  test("takes a duplicate confirmation once", async () => {
    const early = [await engine.message(confirmation), await engine.message(confirmation)];
    const id = await placed("1001");
    await engine.result(id);
    const late = await engine.message(confirmation);

    const again = await placed("1001");

    expect(early.map(({ outcome }) => outcome)).toEqual(["buffered", "duplicate"]);
    expect(late.outcome).toBe("duplicate");
    expect(await engine.get(again)).toMatchObject({ status: "suspended" });
  });

  test("does not find a confirmation whose time to live has passed", async () => {
    await engine.message({ ...confirmation, timeToLive: "PT10M" });
    await engine.advanceClock("PT10M");

    const id = await placed("1001");

    expect(await engine.get(id)).toMatchObject({ status: "suspended" });
  });

  test("gives up after fifteen minutes, and has no open wait left", async () => {
    const id = await placed("1001");

    await engine.advanceClock("PT15M");
    const answer = await engine.message(confirmation);

    const { status, variables } = await engine.result(id);
    expect(status).toBe("succeeded");
    expect(variables).toMatchObject({ outcome: "not paid in time" });
    expect(variables).not.toHaveProperty("paidAmount");
    expect(await engine.waits(id)).toEqual({ items: [] });
    expect(answer.outcome).toBe("buffered");
  });

  test("waits for as long as the order says", async () => {
    const id = await placed("1001", { payWithin: "PT5S" });

    await engine.advanceClock("PT5S");

    const { variables } = await engine.result(id);
    expect(variables).toMatchObject({ outcome: "not paid in time" });
  });

  test("stops a second order with the same number at an incident", async () => {
    const first = await placed("1001");

    const second = await placed("1001");

    const { incidents } = await engine.get(second);
    expect(incidents).toMatchObject([{ type: "UNHANDLED_ERROR_EVENT" }]);
    expect(incidents[0]?.message).toContain("1001");
    expect(await engine.get(first)).toMatchObject({ incidents: [] });
  });
});
