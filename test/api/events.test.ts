import { describe, expect, test } from "vitest";
import { MAX_ID_LENGTH, MAX_MADE_ID_LENGTH } from "../../lib/api/limits.ts";
import { MAX_NAME_LENGTH } from "../../lib/definition/limits.ts";
import type { EventAnswer } from "../../lib/shapes/signals.ts";
import { aDeadLetter, undeclared } from "../support/canned-views.ts";
import { engineError } from "../support/fake-engine.ts";
import { fakeApi } from "./fake-api.ts";

const EVENTS = "/v1/events";

describe("an event", () => {
  test("for an instance is passed on with its id and its key", async () => {
    const { api, asked } = await fakeApi();
    const json = { name: "seen", payload: { "any name": [null] }, target: "live", id: "e-1" };

    const answer = await api("POST", EVENTS, { json, headers: { "idempotency-key": "k" } });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ id: "e-1", outcome: "queued" });
    expect(asked).toEqual([["event", json, "k"]]);
  });

  test("has its idempotency key as its id if it has none", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", EVENTS, {
      json: { name: "seen" },
      headers: { "idempotency-key": "k" },
    });

    expect(answer).toMatchObject({
      status: 200,
      json: { id: "k", outcome: "delivered", deliveredCount: 2 },
    });
  });

  test("that is still being delivered answers 202 without an outcome", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", EVENTS, { json: { name: "many", id: "e" } });

    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({ id: "e" });
  });

  test.each([
    { id: "e", outcome: "delivered", deliveredCount: 1 },
    { id: "e", outcome: "queued" },
    { id: "e", outcome: "dropped", deliveredCount: 0 },
  ] as const)("answers $outcome", async (sent: EventAnswer) => {
    const { api } = await fakeApi({ engine: { event: async () => sent } });

    const answer = await api("POST", EVENTS, { json: { name: "seen" } });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(sent);
  });

  test.each([[null], ["text"], [1.5], [false], [[1, { a: 2 }]], [{ "not a name": 1 }]])(
    "may carry %j",
    async (payload) => {
      const { api, asked } = await fakeApi();

      const answer = await api("POST", EVENTS, { json: { name: "seen", payload } });

      expect(answer.status).toBe(200);
      expect(asked).toEqual([["event", { name: "seen", payload }, undefined]]);
    },
  );

  test.each([
    ["nope", 404, "instance/not-found"],
    ["ended", 410, "instance/ended"],
  ])("for the instance %s is %i", async (target, status, code) => {
    const { api } = await fakeApi();

    const answer = await api("POST", EVENTS, { json: { name: "seen", target } });

    expect(answer).toMatchObject({ status, json: { code, status } });
  });

  test.each(["event/inbox-full", "event/too-many-kept"] as const)(
    "answers %s with 429, to be retried later",
    async (code) => {
      const { api } = await fakeApi({ engine: { event: () => Promise.reject(engineError(code)) } });

      const answer = await api("POST", EVENTS, { json: { name: "seen" } });

      expect(answer).toMatchObject({
        status: 429,
        headers: { "retry-after": "1" },
        json: { code },
      });
    },
  );

  test.each([
    ["request/key-reused", 409],
    ["request/body-too-large", 413],
  ] as const)("answers %s with %i", async (code, status) => {
    const { api } = await fakeApi({ engine: { event: () => Promise.reject(engineError(code)) } });

    const answer = await api("POST", EVENTS, { json: { name: "seen" } });

    expect(answer).toMatchObject({ status, json: { code, status } });
  });

  test.each([
    ["the longest name", { name: "n".repeat(MAX_NAME_LENGTH) }, 200],
    ["the longest id", { name: "n", id: "i".repeat(MAX_ID_LENGTH) }, 200],
    ["a name one too long", { name: "n".repeat(MAX_NAME_LENGTH + 1) }, 400],
    ["an id one too long", { name: "n", id: "i".repeat(MAX_ID_LENGTH + 1) }, 400],
    ["an empty name", { name: "" }, 400],
    ["no name", {}, 400],
    ["an empty target", { name: "n", target: "" }, 400],
    ["a target that is null", { name: "n", target: null }, 400],
    ["an unknown field", { name: "n", correlationKey: "k" }, 400],
  ])("with %s", async (_, json, status) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", EVENTS, { json });

    expect(answer.status).toBe(status);
    expect(asked).toHaveLength(status === 200 ? 1 : 0);
  });
});

describe("an event type", () => {
  const declared = {
    consumeOnRead: false,
    deliveryMode: "AfterCreate",
    expireAfter: "PT1H",
    onTargetTerminated: "deadLetter",
  };

  test("is declared with all its settings, under any name", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("PUT", "/v1/event-types/a%2Fb%3A%20c", { json: declared });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ name: "a/b: c", declared: true, ...declared });
    expect(asked).toEqual([["setEventType", "a/b: c", declared]]);
  });

  test.each(Object.entries(declared))("has defaults for everything but %s", async (name, value) => {
    const { api, asked } = await fakeApi();

    await api("PUT", "/v1/event-types/seen", { json: { [name]: value } });

    expect(asked).toEqual([["setEventType", "seen", { ...undeclared, [name]: value }]]);
  });

  test("is declared with every default by an empty body", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("PUT", "/v1/event-types/seen");

    expect(answer.json).toEqual({ name: "seen", declared: true, ...undeclared });
    expect(asked).toEqual([["setEventType", "seen", undeclared]]);
  });

  test.each([
    ["AfterWait", "discard"],
    ["AfterCreate", "broadcast"],
    ["All", "deadLetter"],
  ])("may be %s and %s", async (deliveryMode, onTargetTerminated) => {
    const { api } = await fakeApi();

    const answer = await api("PUT", "/v1/event-types/seen", {
      json: { deliveryMode, onTargetTerminated },
    });

    expect(answer).toMatchObject({ status: 200, json: { deliveryMode, onTargetTerminated } });
  });

  test.each([
    ["consumeOnRead", "true"],
    ["consumeOnRead", null],
    ["deliveryMode", "afterWait"],
    ["deliveryMode", ""],
    ["expireAfter", "7 days"],
    ["expireAfter", "-P1D"],
    ["expireAfter", 7],
    ["onTargetTerminated", "dead-letter"],
    ["ttl", "P1D"],
  ])("cannot have %s %j", async (name, value) => {
    const { api, asked } = await fakeApi();

    const answer = await api("PUT", "/v1/event-types/seen", { json: { [name]: value } });

    expect(answer).toMatchObject({ status: 400, json: { errors: [{ at: `/${name}` }] } });
    expect(asked).toEqual([]);
  });

  test.each([
    ["known", true],
    ["unknown", false],
  ])("named %s can be read", async (name, isDeclared) => {
    const { api } = await fakeApi();

    const answer = await api("GET", `/v1/event-types/${name}`);

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ name, declared: isDeclared, ...undeclared });
  });
});

describe("dead letters", () => {
  const letter = `/v1/dead-letters/${encodeURIComponent(aDeadLetter.id)}`;

  test("are listed by name, page by page", async () => {
    const { api, asked } = await fakeApi();

    const all = await api("GET", "/v1/dead-letters");
    const none = await api("GET", "/v1/dead-letters", { query: "name=other&limit=2&cursor=Yw" });

    expect(all.json).toEqual({ items: [aDeadLetter] });
    expect(none.json).toEqual({ items: [] });
    expect(asked).toEqual([
      ["deadLetters", {}, { limit: 50 }],
      ["deadLetters", { name: "other" }, { limit: 2, cursor: "c" }],
    ]);
  });

  test.each(["name=", "limit=201", "target=live"])("are not listed by ?%s", async (query) => {
    const { api, asked } = await fakeApi();

    const answer = await api("GET", "/v1/dead-letters", { query });

    expect(answer).toMatchObject({ status: 400, json: { code: "request/invalid" } });
    expect(asked).toEqual([]);
  });

  test("refuse a cursor that the API did not issue", async () => {
    const deadLetters = () => Promise.reject(engineError("store/cursor-invalid"));
    const { api } = await fakeApi({ engine: { deadLetters } });

    const answer = await api("GET", "/v1/dead-letters", { query: "cursor=Yw" });

    expect(answer).toMatchObject({ status: 400, json: { code: "store/cursor-invalid" } });
  });

  test("are replayed and removed", async () => {
    const { api, asked } = await fakeApi();

    const replayed = await api("POST", `${letter}/replay`);
    const removed = await api("DELETE", letter);

    expect(replayed).toMatchObject({ status: 200, json: { outcome: "delivered" } });
    expect(removed.status).toBe(200);
    expect(removed.json).toEqual({ removed: true });
    expect(asked).toEqual([
      ["replayDeadLetter", aDeadLetter.id],
      ["removeDeadLetter", aDeadLetter.id],
    ]);
  });

  test("may have longer ids than a client can send", async () => {
    const { api, asked } = await fakeApi();
    const id = "i".repeat(MAX_MADE_ID_LENGTH);

    const answer = await api("DELETE", `/v1/dead-letters/${id}`);

    expect(answer.status).toBe(404);
    expect(asked).toEqual([["removeDeadLetter", id]]);
  });

  test("that are still being delivered after a replay answer 202", async () => {
    const { api } = await fakeApi({ engine: { replayDeadLetter: async () => ({ id: "e~r1" }) } });

    const answer = await api("POST", `${letter}/replay`);

    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({ id: "e~r1" });
  });

  test("that would exceed the kept events are 429", async () => {
    const replayDeadLetter = () => Promise.reject(engineError("event/too-many-kept"));
    const { api } = await fakeApi({ engine: { replayDeadLetter } });

    const answer = await api("POST", `${letter}/replay`);

    expect(answer).toMatchObject({ status: 429, json: { code: "event/too-many-kept" } });
  });

  test.each([
    ["POST", "/v1/dead-letters/nope/replay"],
    ["DELETE", "/v1/dead-letters/nope"],
  ])("that do not exist answer %s %s with 404", async (method, path) => {
    const { api } = await fakeApi();

    const answer = await api(method, path);

    expect(answer).toMatchObject({ status: 404, json: { code: "dead-letter/not-found" } });
  });
});
