import { describe, expect, test } from "vitest";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { type Delivery, fateOf } from "../../lib/ports/fate.ts";
import type { Message } from "../../lib/ports/message.ts";

const addressed = { tenant: "default", instanceId: "one" } as const;
const owed: Message = { kind: "owed", ...addressed, name: "k1.1/1" };
const timer: Message = { kind: "timer", ...addressed, ticket: "t1.1" };
const task: Message = { kind: "task", ...addressed, ticket: "k1.1", attempt: 1, type: "pay" };
const retry: Message = { ...task, notBefore: instantFrom(5) };

const standard: Delivery = { queue: "standard", receives: 1, mayWait: true };
const inOrder: Delivery = { queue: "in-order", receives: 1, mayWait: true };
const last: Delivery = { queue: "last", receives: 1, mayWait: true };

describe("a message that is released", () => {
  test.each([standard, inOrder, last])("is deleted: $queue", (delivery) => {
    expect(fateOf(task, "release", delivery)).toEqual({ kind: "done" });
  });
});

describe("a message that is kept", () => {
  test.each([standard, inOrder, last])("for less than a second is waited for: $queue", (came) => {
    expect(fateOf(owed, { keepForMs: 999 }, came)).toEqual({ kind: "again", inMs: 999 });
  });

  test.each([
    [1, { kind: "back", inSeconds: 1 }],
    [2, { kind: "back", inSeconds: 2 }],
    [3, { kind: "back", inSeconds: 5 }],
    [4, { kind: "back", inSeconds: 10 }],
    [5, { kind: "later", inSeconds: 30 }],
    [9, { kind: "later", inSeconds: 30 }],
  ])("is never redelivered so often that its queue sets it aside: %i", (receives, fate) => {
    expect(fateOf(task, { keepForMs: 100 }, { ...standard, receives, mayWait: false })).toEqual(
      fate,
    );
  });

  test("is redelivered when its owner's lease expires", () => {
    expect(fateOf(task, { keepForMs: 12_300 }, standard)).toEqual({ kind: "back", inSeconds: 13 });
  });

  test("is never hidden, nor delayed, for longer than a queue allows", () => {
    const ages = { keepForMs: 90_000_000 };

    expect(fateOf(task, ages, standard)).toEqual({ kind: "back", inSeconds: 42_300 });
    expect(fateOf(task, ages, { ...standard, receives: 5 })).toEqual({
      kind: "later",
      inSeconds: 900,
    });
  });

  test.each([
    [5_000, 1, { kind: "back", inSeconds: 5 }],
    [5_001, 1, { kind: "later", inSeconds: 6 }],
    [100_000, 1, { kind: "later", inSeconds: 100 }],
    [1_000, 4, { kind: "later", inSeconds: 10 }],
  ])("does not delay others of its instance: %i ms, receipt %i", (keepForMs, receives, fate) => {
    expect(fateOf(owed, { keepForMs }, { ...inOrder, receives })).toEqual(fate);
  });

  test.each([timer, retry])("because it is early is queued again: $kind", (early) => {
    expect(fateOf(early, { keepForMs: 61_001 }, standard)).toEqual({
      kind: "later",
      inSeconds: 62,
    });
  });

  test.each([owed, timer, retry])("stays if nothing may be queued: $kind", (message) => {
    expect(fateOf(message, { keepForMs: 61_001 }, { ...last, receives: 70 })).toEqual({
      kind: "back",
      inSeconds: 62,
    });
  });
});
