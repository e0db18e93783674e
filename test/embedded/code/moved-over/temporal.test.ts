import { afterAll, beforeAll, expect, test } from "vitest";
import { effectsOf } from "./effects.ts";
import { type MovedOver, moved } from "./moved.ts";
import { countdown } from "./temporal/deadline.ts";
import { hello } from "./temporal/hello.ts";
import { moneyTransfer } from "./temporal/money-transfer.ts";
import { openAccount } from "./temporal/open-account.ts";
import { processOrder } from "./temporal/slow-order.ts";

let at: MovedOver;
beforeAll(async () => {
  at = await moved("temporal");
});
afterAll(() => at.close());

test("moved over from Temporal: hello world returns what its activity returns", async () => {
  const started = await at.start(hello, "Ada");

  expect(await at.engine.result(started)).toMatchObject({ result: "Hello, Ada!" });
});

const transfer = { amount: 400, from: "85-150", to: "43-812", reference: "12345" };

test("moved over from Temporal: money transfer withdraws, then deposits", async () => {
  const started = await at.start(moneyTransfer, transfer);

  const { result } = await at.engine.result(started);

  expect(result).toBe("Transferred: withdraw-85-150, deposit-43-812");
  expect(effectsOf(started.instanceId)).toEqual(["withdraw 400 85-150", "deposit 400 43-812"]);
});

test("moved over from Temporal: money transfer refunds when the deposit fails", async () => {
  const started = await at.start(moneyTransfer, { ...transfer, to: "00-000" });

  const { status, error } = await at.engine.get(started.instanceId);

  expect(status).toBe("failed");
  expect(error?.message).toBe("The deposit to 00-000 failed (INVALID_ACCOUNT); refund-85-150");
  expect(effectsOf(started.instanceId)).toEqual(["withdraw 400 85-150", "refund 400 85-150"]);
});

test("moved over from Temporal: money transfer moves nothing without funds", async () => {
  const started = await at.start(moneyTransfer, { ...transfer, amount: 4000 });

  const { status, error } = await at.engine.get(started.instanceId);

  expect([status, error?.code]).toEqual(["failed", "INSUFFICIENT_FUNDS"]);
  expect(effectsOf(started.instanceId)).toEqual([]);
});

test("moved over from Temporal: money transfer deposits when the bank is back, after its pauses", async () => {
  const started = await at.start(moneyTransfer, { ...transfer, to: "99-999" });

  await at.pass("PT1S");
  const early = await at.engine.get(started.instanceId);
  await at.pass("PT2S");

  expect(early.status).toBe("running");
  expect(await at.engine.get(started.instanceId)).toMatchObject({ status: "succeeded" });
  expect(effectsOf(started.instanceId)).toEqual(["withdraw 400 85-150", "deposit 400 99-999"]);
});

const account = { accountId: "acc-1", address: "Elm 1", email: "ada@example.com", iban: "DE1" };

test("moved over from Temporal: open account runs every step and no compensation", async () => {
  const started = await at.start(openAccount, account);

  expect(await at.engine.result(started)).toMatchObject({ status: "succeeded", result: null });
  expect(effectsOf(started.instanceId)).toEqual([
    "create account acc-1",
    "add address Elm 1",
    "add client ada@example.com",
    "add bank account DE1",
  ]);
});

test("moved over from Temporal: open account compensates in reverse order, and fails", async () => {
  const started = await at.start(openAccount, { ...account, iban: "bad iban" });

  const { status, error } = await at.engine.get(started.instanceId);

  expect(status).toBe("failed");
  expect(error).toMatchObject({ code: "REFUSED", message: "add bank account refused bad iban" });
  expect(effectsOf(started.instanceId).slice(3)).toEqual([
    "remove client acc-1",
    "clear addresses acc-1",
  ]);
});

test("moved over from Temporal: open account compensates nothing without an account", async () => {
  const started = await at.start(openAccount, { ...account, accountId: "bad" });

  expect(await at.engine.get(started.instanceId)).toMatchObject({ status: "failed" });
  expect(effectsOf(started.instanceId)).toEqual([]);
});

test("moved over from Temporal: an order that is processed in time sends no mail", async () => {
  const started = await at.start(processOrder, { order: "o-1", patience: "1h" });

  await at.complete(started, "Linus");
  await at.pass("PT2H");

  expect((await at.engine.result(started)).result).toBe("o-1 processed by Linus");
  expect(effectsOf(started.instanceId)).toEqual([]);
});

test("moved over from Temporal: a slow order sends one mail, and is still processed", async () => {
  const started = await at.start(processOrder, { order: "o-2", patience: "1h" });

  await at.pass("PT2H");
  await at.complete(started, "Linus");

  expect((await at.engine.result(started)).result).toBe("o-2 processed by Linus");
  expect(effectsOf(started.instanceId)).toEqual(["mail: o-2 takes longer"]);
});

test("moved over from Temporal: a countdown ends at the deadline that was set last", async () => {
  const now = Date.parse((await at.pass("PT0S")).now);
  const after = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
  const started = await at.start(countdown, after(60));

  await at.send(started, "set-deadline", after(120));
  await at.pass("PT90M");
  const between = await at.engine.get(started.instanceId);
  await at.send(started, "set-deadline", after(100));
  await at.pass("PT10M");

  expect(between.status).toBe("suspended");
  expect((await at.engine.result(started)).result).toEqual({ moves: 2, endedAt: after(100) });
});
