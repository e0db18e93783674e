import { describe, expect, test } from "vitest";
import { parseText, referenceText, traceparentIn } from "../../../lib/adapters/sqs/wire.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { broadcastText, MESSAGE_FORMAT, messageText } from "../../../lib/ports/message-text.ts";
import { everyMessage } from "../../support/every-message.ts";

const timer = { v: 1, kind: "timer", tenant: "default", instanceId: "order-1", ticket: "t1.1" };

describe("the text of a message", () => {
  test.each(everyMessage)("round-trips $kind", (message) => {
    expect(parseText(messageText(message))).toEqual(message);
  });

  test("contains no character that a queue refuses", () => {
    const texts = everyMessage.map((message) => messageText(message)).join("");

    expect(texts).toMatch(/\\uffff/);
    expect(texts).not.toMatch(/[^\t\n\r\u0020-\uD7FF\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u);
  });

  test("may be a reference to the stored body", () => {
    const reference = parseText(referenceText("messages/abc"));

    expect(reference).toEqual({ kind: "reference", ref: "messages/abc" });
  });

  test("of a broadcast contains more for subscribers outside than the fan-out needs", () => {
    const topic = { kind: "event", name: "paid" } as const;
    const broadcast = { tenant: "default", broadcastId: "b1", topic, seq: 4, at: instantFrom(5) };
    const text = broadcastText(broadcast);

    expect(JSON.parse(text)).toMatchObject({ id: "b1", topic, seq: 4, at: 5 });
    expect(parseText(text)).toEqual({ kind: "broadcast", tenant: "default", broadcastId: "b1" });
  });
});

describe("a message of an earlier format", () => {
  test.each([1, 2, 3])("is read by an engine that writes format 3: %i", (v) => {
    expect(parseText(JSON.stringify({ ...timer, v }), 3)).toMatchObject({ kind: "timer" });
    expect(parseText(JSON.stringify({ v, ref: "messages/abc" }), 3)).toMatchObject({
      ref: "messages/abc",
    });
  });

  test("waits for its reader if it is newer than that", () => {
    expect(() => parseText(JSON.stringify({ ...timer, v: 4 }), 3)).toThrow(/newer engine/);
  });

  test.each([0, -1, 1.5, "1", null])("is unreadable with a format that never existed: %j", (v) => {
    expect(() => parseText(JSON.stringify({ ...timer, v }), 3)).toThrow(/cannot be read/);
  });
});

describe("the trace of a message", () => {
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

  test.each(everyMessage)("is stored beside $kind, and is not part of it", (message) => {
    const text = messageText(message, traceparent);

    expect(traceparentIn(text)).toBe(traceparent);
    expect(parseText(text)).toEqual(message);
  });

  test.each([
    ["without one", JSON.stringify(timer)],
    ["with none that is a text", JSON.stringify({ ...timer, traceparent: 7 })],
  ])("is absent in a message %s, which is still read", (_, text) => {
    expect(traceparentIn(text)).toBeUndefined();
    expect(parseText(text)).toMatchObject({ kind: "timer", ticket: "t1.1" });
  });

  test("is absent if the message cannot be read", () => {
    expect(traceparentIn("<xml/>")).toBeUndefined();
  });
});

describe("an event that requests a signal", () => {
  const event = {
    version: "0",
    id: "e1",
    "detail-type": "signal-requested",
    source: "shop",
    detail: { name: "closed", payload: { why: "flood" } },
  };

  test("requests it under its own id", () => {
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

describe("an event that carries a broadcast", () => {
  const topic = { kind: "signal", name: "approved" } as const;
  const broadcast = { tenant: "default", broadcastId: "b1", topic, seq: 4, at: instantFrom(5) };
  const event = (detail: object) => ({
    version: "0",
    id: "e1",
    "detail-type": "signal-accepted",
    source: "fermata",
    detail,
  });

  test("is read as the broadcast, with its trace", () => {
    const text = JSON.stringify(event(JSON.parse(broadcastText(broadcast, "00-a-b-01"))));

    expect(parseText(text)).toEqual({ kind: "broadcast", tenant: "default", broadcastId: "b1" });
    expect(traceparentIn(text)).toBe("00-a-b-01");
  });

  test("waits for its reader if the broadcast has a newer format", () => {
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

describe("a text that is not a message", () => {
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

  test("is kept for its reader if a newer engine wrote it", () => {
    expect(() => parseText(JSON.stringify({ v: MESSAGE_FORMAT + 1, kind: "alarm" }))).toThrow(
      expect.objectContaining({ code: "message/format-too-new", retryable: true }),
    );
  });

  test("is reported with what is wrong", () => {
    const text = JSON.stringify({ ...timer, ticket: 7, urgent: true });

    expect(() => parseText(text)).toThrow(/ticket is wrong .*it has unknown urgent/);
  });
});

function parked(fact: object): string {
  return JSON.stringify({ v: 1, ...everyMessage.find(({ kind }) => kind === "parked"), fact });
}
