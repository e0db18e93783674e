import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auction, type Bid } from "./workflows/auction.ts";

const HOUR_MS = 3_600_000;

describe("the auction (D23)", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-auction-"));
    engine = await open();
  });

  afterAll(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  const open = () =>
    openEngine({ dataDir, clock: "virtual", workflows: join(import.meta.dirname, "workflows") });

  /** An auction that ends in an hour. */
  async function opened() {
    const { now } = await engine.advanceClock("PT0S");
    const endsAt = new Date(Date.parse(now) + HOUR_MS).toISOString();
    const started = await engine.start(auction, {
      input: { item: "a chair", endsAt, minimum: 10 },
    });
    await engine.idle();
    return started;
  }

  const bid = (target: string, payload: Bid) => engine.event({ name: "bid", target, payload });

  test("goes to the highest bid; of two equal ones, to the earlier", async () => {
    const started = await opened();
    await bid(started.instanceId, { bidder: "Ada", amount: 20 });
    await bid(started.instanceId, { bidder: "Grace", amount: 35 });
    await bid(started.instanceId, { bidder: "Linus", amount: 35 });

    await engine.advanceClock("PT1H");

    const { result } = await engine.result(started);
    expect(result).toEqual({ sold: true, bids: 3, to: "Grace", for: 35 });
  });

  test("ends without a sale when no bid reaches the minimum", async () => {
    const started = await opened();
    await bid(started.instanceId, { bidder: "Ada", amount: 9 });

    await engine.advanceClock("PT1H");

    expect((await engine.result(started)).result).toEqual({ sold: false, bids: 1 });
  });

  test("takes bids until the instant, and refuses those that come later", async () => {
    const started = await opened();
    await engine.advanceClock("PT59M59S");
    await bid(started.instanceId, { bidder: "Ada", amount: 20 });
    await engine.advanceClock("PT1S");
    await engine.result(started);

    const late = bid(started.instanceId, { bidder: "Grace", amount: 90 });

    await expect(late).rejects.toThrow(/ended/);
    expect((await engine.result(started)).result).toMatchObject({ to: "Ada" });
  });

  test("counts every bid once across a restart", async () => {
    const { instanceId } = await opened();
    for (let n = 1; n <= 20; n++) await bid(instanceId, { bidder: `bidder ${n}`, amount: 10 + n });

    await engine.close();
    engine = await open();
    await bid(instanceId, { bidder: "Ada", amount: 50 });
    await engine.advanceClock("PT1H");

    const { result } = await engine.result(instanceId);
    expect(result).toEqual({ sold: true, bids: 21, to: "Ada", for: 50 });
  });
});
