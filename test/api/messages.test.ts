import { describe, expect, test } from "vitest";
import { MAX_ID_LENGTH } from "../../lib/api/limits.ts";
import { MAX_NAME_LENGTH } from "../../lib/definition/limits.ts";
import type { MessageAnswer } from "../../lib/shapes/signals.ts";
import { engineError } from "../support/fake-engine.ts";
import { fakeApi } from "./fake-api.ts";

const MESSAGES = "/v1/messages";

describe("a message", () => {
  test("is passed on with all its fields", async () => {
    const { api, asked } = await fakeApi();
    const json = {
      name: "paid",
      correlationKey: "order 42",
      payload: { amount: 12.5 },
      messageId: "m-1",
      timeToLive: "PT0S",
    };

    const answer = await api("POST", MESSAGES, { json, headers: { "idempotency-key": "k" } });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ messageId: "m-1", outcome: "delivered", instanceId: "live" });
    expect(asked).toEqual([["message", json, "k"]]);
  });

  test("has its idempotency key as its id if it has none", async () => {
    const { api, asked } = await fakeApi();
    const headers = { "idempotency-key": "k" };

    const answer = await api("POST", MESSAGES, { json: { name: "paid" }, headers });

    expect(answer.json.messageId).toBe("k");
    expect(asked).toEqual([["message", { name: "paid" }, "k"]]);
  });

  test.each([
    [42, "42"],
    [-1.5, "-1.5"],
    [0, "0"],
    ["", ""],
    ["042", "042"],
  ])("with the correlation key %j is for a wait for %j", async (correlationKey, text) => {
    const { api, asked } = await fakeApi();

    await api("POST", MESSAGES, { json: { name: "paid", correlationKey } });

    expect(asked).toEqual([["message", { name: "paid", correlationKey: text }, undefined]]);
  });

  test.each([
    { messageId: "m", outcome: "delivered", instanceId: "live" },
    { messageId: "m", outcome: "started", instanceId: "new" },
    { messageId: "m", outcome: "buffered" },
    { messageId: "m", outcome: "duplicate" },
  ] as const)("answers $outcome", async (taken: MessageAnswer) => {
    const { api } = await fakeApi({ engine: { message: async () => taken } });

    const answer = await api("POST", MESSAGES, { json: { name: "paid" } });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(taken);
  });

  test("without a wait that is not kept is 404", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", MESSAGES, { json: { name: "nobody", timeToLive: "PT0S" } });

    expect(answer).toMatchObject({ status: 404, json: { code: "message/no-waiter" } });
  });

  test("to a full mailbox is 429, to be retried later", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", MESSAGES, { json: { name: "full" } });

    expect(answer).toMatchObject({
      status: 429,
      headers: { "retry-after": "1" },
      json: { code: "message/mailbox-full" },
    });
  });

  test.each([
    ["the longest name", { name: "n".repeat(MAX_NAME_LENGTH) }, 200],
    ["the longest key", { name: "n", correlationKey: "k".repeat(MAX_NAME_LENGTH) }, 200],
    ["the longest id", { name: "n", messageId: "i".repeat(MAX_ID_LENGTH) }, 200],
    ["a name one too long", { name: "n".repeat(MAX_NAME_LENGTH + 1) }, 400],
    ["a key one too long", { name: "n", correlationKey: "k".repeat(MAX_NAME_LENGTH + 1) }, 400],
    ["an id one too long", { name: "n", messageId: "i".repeat(MAX_ID_LENGTH + 1) }, 400],
    ["no name", { correlationKey: "k" }, 400],
    ["a key that is neither text nor a number", { name: "n", correlationKey: null }, 400],
    ["a key that is true", { name: "n", correlationKey: true }, 400],
    ["an empty id", { name: "n", messageId: "" }, 400],
    ["a time to live that is no duration", { name: "n", timeToLive: "1 hour" }, 400],
    ["a time to live below zero", { name: "n", timeToLive: "-PT1S" }, 400],
    ["a payload that is text", { name: "n", payload: "x" }, 400],
    ["a payload that FEEL cannot name", { name: "n", payload: { "a b": 1 } }, 400],
  ])("with %s", async (_, json, status) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", MESSAGES, { json });

    expect(answer.status).toBe(status);
    expect(asked).toHaveLength(status === 200 ? 1 : 0);
  });

  test("lists every unknown field", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", MESSAGES, { json: { name: "n", id: "i", ttl: 1 } });

    expect(answer).toMatchObject({
      status: 400,
      json: { errors: [{ at: "/id" }, { at: "/ttl" }] },
    });
  });

  test.each([
    ["request/body-too-large", 413],
    ["engine/busy", 429],
  ] as const)("answers %s with %i", async (code, status) => {
    const { api } = await fakeApi({ engine: { message: () => Promise.reject(engineError(code)) } });

    const answer = await api("POST", MESSAGES, { json: { name: "paid" } });

    expect(answer).toMatchObject({ status, json: { code, status } });
  });
});
