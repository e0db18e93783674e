import { afterAll, beforeAll, expect, test } from "vitest";
import { effectsOf } from "./effects.ts";
import { afterPayment } from "./inngest/after-payment.ts";
import { watchCart } from "./inngest/cart.ts";
import { emailSequence } from "./inngest/email-sequence.ts";
import { picture } from "./inngest/picture.ts";
import { type MovedOver, moved } from "./moved.ts";

let at: MovedOver;
beforeAll(async () => {
  at = await moved("inngest");
});
afterAll(() => at.close());

test("moved over from Inngest: the email sequence sends tips a day after a click", async () => {
  const started = await at.start(emailSequence, { userId: "u-1", email: "ada@example.com" });
  await at.pass("P2D");

  await at.tell("mail-clicked", "u-1", { link: "/start" });
  await at.pass("PT23H");
  const before = effectsOf(started.instanceId);
  await at.pass("PT1H");

  expect(before).toEqual(["welcome to ada@example.com"]);
  expect((await at.engine.result(started)).result).toEqual({ clicked: "/start" });
  expect(effectsOf(started.instanceId).slice(1)).toEqual([
    "tips for professionals to ada@example.com",
  ]);
});

test.each([
  ["offers a trial after three days", "u-2", ["trial offer to bob@example.com"]],
  ["offers nothing to those who pay", "paying-3", []],
])("moved over from Inngest: the email sequence %s without a click", async (_, userId, mails) => {
  const started = await at.start(emailSequence, { userId, email: "bob@example.com" });

  await at.pass("P3D");

  expect((await at.engine.result(started)).result).toEqual({ clicked: null });
  expect(effectsOf(started.instanceId)).toEqual(["welcome to bob@example.com", ...mails]);
});

test("moved over from Inngest: the email sequence does not take the click of another user", async () => {
  const started = await at.start(emailSequence, { userId: "u-4", email: "eve@example.com" });

  await at.tell("mail-clicked", "u-5", { link: "/start" });
  await at.pass("P3D");

  expect((await at.engine.result(started)).result).toEqual({ clicked: null });
});

test("moved over from Inngest: an abandoned cart is remembered a day after its last product", async () => {
  const started = await at.start(watchCart, { userId: "c-1", product: "a hat" });

  await at.pass("PT23H");
  await at.tell("cart-product-added", "c-1", { product: "a scarf" });
  await at.pass("PT23H");
  const between = effectsOf(started.instanceId);
  await at.pass("PT1H");

  expect(between).toEqual([]);
  expect((await at.engine.result(started)).result).toBe("reminded");
  expect(effectsOf(started.instanceId)).toEqual(["remind c-1 of a hat and a scarf"]);
});

test("moved over from Inngest: a cart that is bought sends no reminder", async () => {
  const started = await at.start(watchCart, { userId: "c-2", product: "a hat" });

  await at.tell("cart-purchased", "c-2", null);
  await at.pass("P2D");

  expect((await at.engine.result(started)).result).toBe("bought");
  expect(effectsOf(started.instanceId)).toEqual([]);
});

test("moved over from Inngest: a cart is watched by one instance at a time", async () => {
  const first = await at.start(watchCart, { userId: "c-3", product: "a hat" });
  const second = await at.start(watchCart, { userId: "c-3", product: "a scarf" });

  await at.tell("cart-purchased", "c-3", null);

  expect((await at.engine.result(first)).result).toBe("bought");
  expect((await at.engine.result(second)).result).toBe("already watched");
});

test("moved over from Inngest: parallel steps are retried one by one", async () => {
  const started = await at.start(afterPayment, { email: "ada@example.com", amount: 42 });

  await at.pass("PT20S");

  expect((await at.engine.result(started)).result).toEqual({
    mailId: "mail-ada@example.com",
    charged: 42,
    updatedAt: "1970-01-01T00:00:00.000Z",
  });
  expect(effectsOf(started.instanceId)).toEqual(["mail to ada@example.com", "charged 42"]);
});

test("moved over from Inngest: a picture falls back to the second provider", async () => {
  const started = await at.start(picture, "not first, a cat");

  await at.pass("PT5S");

  expect((await at.engine.result(started)).result).toBe(
    "second: not first, a cat (picture-draw failed 2 times before)",
  );
  expect(effectsOf(started.instanceId)).toEqual([
    "ask first, attempt 1",
    "ask first, attempt 2",
    "ask second, attempt 1",
  ]);
});

test("moved over from Inngest: a picture without a prompt fails at once", async () => {
  const started = await at.start(picture, "");

  const { status, error } = await at.engine.get(started.instanceId);

  expect([status, error?.code]).toEqual(["failed", "NO_PROMPT"]);
  expect(effectsOf(started.instanceId)).toEqual(["ask first, attempt 1"]);
});

test("moved over from Inngest: a picture that both providers refuse fails with the last error", async () => {
  const started = await at.start(picture, "not first and not second");

  await at.pass("PT1M");

  const { status, error } = await at.engine.get(started.instanceId);
  expect([status, error?.message]).toEqual(["failed", "second is overloaded."]);
});
