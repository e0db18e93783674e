import { describe, expect, test } from "vitest";
import { parseText, referenceText, traceparentIn } from "../../../lib/adapters/sqs/wire.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { broadcastText, MESSAGE_FORMAT, messageText } from "../../../lib/ports/message-text.ts";
import { everyMessage } from "../../support/every-message.ts";

const timer = { v: 1, kind: "timer", tenant: "default", instanceId: "order-1", ticket: "t1.1" };

describe("the text of a message", () => {
  test.each(everyMessage)("brings $kind back whole", (message) => {
    expect(parseText(messageText(message))).toEqual(message);
  });

  test("holds no character that a queue refuses", () => {
    const texts = everyMessage.map((message) => messageText(message)).join("");

    expect(texts).toMatch(/\\uffff/);
    expect(texts).not.toMatch(/[^\t\n\r\u0020-\uD7FF\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u);
  });

  test("may be a reference to where it is kept", () => {
    const reference = parseText(referenceText("messages/abc"));

    expect(reference).toEqual({ kind: "reference", ref: "messages/abc" });
  });

  test("of a broadcast tells outsiders more than those who fan out need", () => {
    const topic = { kind: "event", name: "paid" } as const;
    const broadcast = { tenant: "default", broadcastId: "b1", topic, seq: 4, at: instantFrom(5) };
    const text = broadcastText(broadcast);

    expect(JSON.parse(text)).toMatchObject({ id: "b1", topic, seq: 4, at: 5 });
    expect(parseText(text)).toEqual({ kind: "broadcast", tenant: "default", broadcastId: "b1" });
  });
});

describe("a message of an earlier format", () => {
  test.each([1, 2, 3])("is read by an engine that writes 3: %i", (v) => {
    expect(parseText(JSON.stringify({ ...timer, v }), 3)).toMatchObject({ kind: "timer" });
    expect(parseText(JSON.stringify({ v, ref: "messages/abc" }), 3)).toMatchObject({
      ref: "messages/abc",
    });
  });

  test("waits for its reader where it is newer than that", () => {
    expect(() => parseText(JSON.stringify({ ...timer, v: 4 }), 3)).toThrow(/newer engine/);
  });

  test.each([0, -1, 1.5, "1", null])("is unreadable with a format that never was: %j", (v) => {
    expect(() => parseText(JSON.stringify({ ...timer, v }), 3)).toThrow(/cannot be read/);
  });
});

describe("the trace of a message", () => {
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

  test.each(everyMessage)("stands beside $kind, and is no part of it", (message) => {
    const text = messageText(message, traceparent);

    expect(traceparentIn(text)).toBe(traceparent);
    expect(parseText(text)).toEqual(message);
  });

  test.each([
    ["without one", JSON.stringify(timer)],
    ["with none that is a text", JSON.stringify({ ...timer, traceparent: 7 })],
  ])("is absent in a message %s, which is read all the same", (_, text) => {
    expect(traceparentIn(text)).toBeUndefined();
    expect(parseText(text)).toMatchObject({ kind: "timer", ticket: "t1.1" });
  });

  test("is absent where nobody can read the message", () => {
    expect(traceparentIn("<xml/>")).toBeUndefined();
  });
});

describe("an event that asks for a signal", () => {
  const event = {
    version: "0",
    id: "e1",
    "detail-type": "signal-requested",
    source: "shop",
    detail: { name: "closed", payload: { why: "flood" } },
  };

  test("asks under its own id", () => {
    const payload = { why: "flood" };

    expect(parseText(JSON.stringify(event))).toEqual({
      kind: "signal-requested",
      id: "e1",
      name: "closed",
      payload,
    });
  });

  test("needs no payload", () => {
    const request = parseText(JSON.stringify({ ...event, detail: { name: "closed" } }));

    expect(request).toEqual({ kind: "signal-requested", id: "e1", name: "closed" });
  });

  test.each([
    ["without a name", { payload: {} }],
    ["with a payload that is no object", { name: "closed", payload: "flood" }],
    ["with something else", { name: "closed", urgent: true }],
  ])("is refused %s", (_, detail) => {
    expect(() => parseText(JSON.stringify({ ...event, detail }))).toThrow(/message\/unreadable/);
  });
});

describe("an event that a broadcast comes in", () => {
  const topic = { kind: "signal", name: "approved" } as const;
  const broadcast = { tenant: "default", broadcastId: "b1", topic, seq: 4, at: instantFrom(5) };
  const event = (detail: object) => ({
    version: "0",
    id: "e1",
    "detail-type": "signal-accepted",
    source: "fermata",
    detail,
  });

  test("is the broadcast, with its trace", () => {
    const text = JSON.stringify(event(JSON.parse(broadcastText(broadcast, "00-a-b-01"))));

    expect(parseText(text)).toEqual({ kind: "broadcast", tenant: "default", broadcastId: "b1" });
    expect(traceparentIn(text)).toBe("00-a-b-01");
  });

  test("waits for its reader where the broadcast is newer", () => {
    const detail = { ...JSON.parse(broadcastText(broadcast)), v: MESSAGE_FORMAT + 1 };

    expect(() => parseText(JSON.stringify(event(detail)))).toThrow(/message\/format-too-new/);
  });

  test.each([
    ...everyMessage.filter(({ kind }) => kind !== "broadcast"),
    { kind: "reference", ref: "messages/abc" },
  ])("is refused with $kind", ({ ...detail }) => {
    const text = JSON.stringify(event({ v: 1, ...detail }));

    expect(() => parseText(text)).toThrow(/message\/unreadable/);
  });

  test("is refused from another source", () => {
    const detail = JSON.parse(broadcastText(broadcast));
    const text = JSON.stringify({ ...event(detail), source: "shop" });

    expect(() => parseText(text)).toThrow(/message\/unreadable/);
  });
});

describe("a text that is no message", () => {
  test.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["no format", JSON.stringify({ ...timer, v: undefined })],
    ["the format as a text", JSON.stringify({ ...timer, v: "1" })],
    ["an older format than the first", JSON.stringify({ ...timer, v: 0 })],
    ["no kind", JSON.stringify({ v: 1 })],
    ["an unknown kind", JSON.stringify({ ...timer, kind: "alarm" })],
    ["a property too few", JSON.stringify({ ...timer, ticket: undefined })],
    ["a property too many", JSON.stringify({ ...timer, urgent: true })],
    ["a property of the wrong type", JSON.stringify({ ...timer, ticket: 7 })],
    ["a parked fact of an unknown kind", parked({ kind: "task-lost", ticket: "k1.1" })],
    ["variables that are a list", parked({ kind: "task-completed", ticket: "k", variables: [] })],
    ["an instant that is none", JSON.stringify({ ...timer, kind: "task", notBefore: 0.5 })],
    ["another kind of event", JSON.stringify({ "detail-type": "order-placed", detail: {} })],
  ])("is unreadable: %s", (_, text) => {
    expect(() => parseText(text)).toThrow(
      expect.objectContaining({ code: "message/unreadable", retryable: false }),
    );
  });

  test("but one of a newer engine is kept for its reader", () => {
    expect(() => parseText(JSON.stringify({ v: MESSAGE_FORMAT + 1, kind: "alarm" }))).toThrow(
      expect.objectContaining({ code: "message/format-too-new", retryable: true }),
    );
  });

  test("is named with what is wrong", () => {
    const text = JSON.stringify({ ...timer, ticket: 7, urgent: true });

    expect(() => parseText(text)).toThrow(/ticket is wrong .*it has unknown urgent/);
  });
});

function parked(fact: object): string {
  return JSON.stringify({ v: 1, ...everyMessage.find(({ kind }) => kind === "parked"), fact });
}
