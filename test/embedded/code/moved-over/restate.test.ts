import { afterAll, beforeAll, expect, test } from "vitest";
import { effectsOf } from "./effects.ts";
import { type MovedOver, moved } from "./moved.ts";
import { fanOut } from "./restate/fan-out.ts";
import { processPayment } from "./restate/payment.ts";
import { signUp } from "./restate/signup.ts";
import { bookTrip } from "./restate/travel.ts";

let at: MovedOver;
beforeAll(async () => {
  at = await moved("restate");
});
afterAll(() => at.close());

const ada = { name: "Ada", email: "ada@example.com" };

test.each([
  ["is verified by the secret of the mail", (secret: string) => secret, true],
  ["is not verified by another secret", () => "guessed", false],
])("moved over from Restate: a sign-up %s", async (_, secretOf, verified) => {
  const started = await at.start(signUp, ada);
  const [created, link = ""] = effectsOf(started.instanceId);
  const secret = link.split(": ")[1] ?? "";

  await at.send(started, "link-clicked", { secret: secretOf(secret) });

  expect(created).toBe("create Ada");
  expect(secret).toMatch(/^[0-9a-f-]{36}$/);
  expect((await at.engine.result(started)).result).toEqual({
    userId: started.instanceId,
    verified,
  });
});

const trip = { customer: "Ada", flight: "flight 7", car: "a van", hotel: "Ritz" };

test("moved over from Restate: a trip is booked in order", async () => {
  const started = await at.start(bookTrip, trip);

  expect((await at.engine.result(started)).result).toBe("booked");
  expect(effectsOf(started.instanceId)).toEqual([
    "book flight 7 for Ada",
    "book a van for Ada",
    "book Ritz for Ada",
  ]);
});

test("moved over from Restate: a trip without a hotel is undone in reverse order", async () => {
  const started = await at.start(bookTrip, { ...trip, hotel: "Ritz (full)" });

  const { status, error } = await at.engine.get(started.instanceId);

  expect([status, error?.code]).toEqual(["failed", "SOLD_OUT"]);
  expect(effectsOf(started.instanceId)).toEqual([
    "book flight 7 for Ada",
    "book a van for Ada",
    "cancel Ritz (full) for Ada",
    "cancel a van for Ada",
    "cancel flight 7 for Ada",
  ]);
});

test("moved over from Restate: a trip goes on after a call that failed once", async () => {
  const started = await at.start(bookTrip, { ...trip, car: "a van (flaky)" });

  await at.pass("PT1S");

  expect((await at.engine.result(started)).result).toBe("booked");
  expect(effectsOf(started.instanceId)).toEqual([
    "book flight 7 for Ada",
    "book a van (flaky) for Ada",
    "book Ritz for Ada",
  ]);
});

test("moved over from Restate: fan-out runs every part once and joins the results in order", async () => {
  const words = Array.from({ length: 30 }, (_, n) => "x".repeat(n + 1));

  const started = await at.start(fanOut, words.join(" "));

  expect((await at.engine.result(started)).result).toEqual({
    parts: 30,
    letters: (30 * 31) / 2,
    lengths: words.map(({ length }) => length),
  });
  expect(effectsOf(started.instanceId)).toEqual(["split", ...words.map(() => "part")]);
});

test("moved over from Restate: a payment ends with the response of the provider", async () => {
  const started = await at.start(processPayment, { amount: 12, method: "card" });

  const { result } = await at.engine.result(started);

  expect(result).toMatchObject({ path: "response", status: "succeeded" });
  expect(effectsOf(started.instanceId)).toEqual([
    `pay 12 with ${result?.key}, call back ${started.instanceId}`,
  ]);
});

test.each([
  ["succeeded", "succeeded"],
  ["canceled", "failed"],
])("moved over from Restate: a payment whose webhook says %s has %s", async (told, status) => {
  const started = await at.start(processPayment, { amount: 12, method: "transfer" });
  await at.pass("P3D");
  const between = await at.engine.get(started.instanceId);

  await at.send(started, "payment-intent", { status: told });

  expect(between.status).toBe("suspended");
  expect((await at.engine.get(started.instanceId)).status).toBe(status);
  expect(effectsOf(started.instanceId)).toHaveLength(1);
});

test("moved over from Restate: a payment takes a webhook that is faster than the response", async () => {
  const started = await at.engine.start(processPayment, {
    input: { amount: 12, method: "transfer" },
  });

  await at.send(started, "payment-intent", { status: "succeeded" });

  expect((await at.engine.result(started)).result).toMatchObject({ path: "webhook" });
});

test("moved over from Restate: a payment of nothing fails before any call", async () => {
  const started = await at.start(processPayment, { amount: 0, method: "card" });

  expect(await at.engine.get(started.instanceId)).toMatchObject({
    status: "failed",
    error: { name: "RangeError", message: "The amount must be positive." },
  });
  expect(effectsOf(started.instanceId)).toEqual([]);
});
