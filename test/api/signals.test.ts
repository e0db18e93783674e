import { describe, expect, test } from "vitest";
import { MAX_ID_LENGTH } from "../../lib/api/limits.ts";
import { MAX_NAME_LENGTH } from "../../lib/definition/limits.ts";
import { aReceipt } from "../support/canned-views.ts";
import { engineError } from "../support/fake-engine.ts";
import { fakeApi } from "./fake-api.ts";

const SIGNALS = "/v1/signals";

describe("a signal", () => {
  test("that has been delivered to every wait answers 200 with the counts", async () => {
    const { api, asked } = await fakeApi();
    const json = { name: "order approved", payload: { by: "me", nested: { "any name": [] } } };

    const answer = await api("POST", SIGNALS, { json: { ...json, id: "b-1" } });

    expect(answer).toMatchObject({ status: 200, headers: { location: "/v1/signals/b-1" } });
    expect(answer.json).toEqual({ broadcastId: "b-1", deliveredCount: 3, startedCount: 1 });
    expect(asked).toEqual([["signal", { ...json, id: "b-1" }, undefined]]);
  });

  test("that is still being delivered answers 202 with the location of its receipt", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", SIGNALS, { json: { name: "many", id: "a:b~c/d" } });

    expect(answer).toMatchObject({
      status: 202,
      headers: { location: "/v1/signals/a%3Ab~c%2Fd" },
    });
    expect(answer.json).toEqual({ broadcastId: "a:b~c/d" });
  });

  test("without a wait reaches none, which is no error", async () => {
    const signal = async () => ({ broadcastId: "b", deliveredCount: 0, startedCount: 0 });
    const { api } = await fakeApi({ engine: { signal } });

    const answer = await api("POST", SIGNALS, { json: { name: "go" } });

    expect(answer).toMatchObject({ status: 200, json: { deliveredCount: 0, startedCount: 0 } });
  });

  test("passes its idempotency key on, beside its id if it has one", async () => {
    const { api, asked } = await fakeApi();
    const headers = { "idempotency-key": "k" };

    const byKey = await api("POST", SIGNALS, { json: { name: "go" }, headers });
    const byId = await api("POST", SIGNALS, { json: { name: "go", id: "i" }, headers });

    expect([byKey.json.broadcastId, byId.json.broadcastId]).toEqual(["k", "i"]);
    expect(asked).toEqual([
      ["signal", { name: "go" }, "k"],
      ["signal", { name: "go", id: "i" }, "k"],
    ]);
  });

  test("lists every unknown field and every variable whose name FEEL cannot read", async () => {
    const { api, asked } = await fakeApi();
    const json = { name: "go", payload: { "not good": 1, in: 2 }, target: "live", to: 1 };

    const answer = await api("POST", SIGNALS, { json });

    expect(answer).toMatchObject({
      status: 400,
      json: {
        errors: [
          { at: "/payload/not good" },
          { at: "/payload/in" },
          { at: "/target", message: '"target" is not known here' },
          { at: "/to" },
        ],
      },
    });
    expect(asked).toEqual([]);
  });

  test.each([
    ["the longest name", { name: "n".repeat(MAX_NAME_LENGTH) }, 200],
    ["the longest id", { name: "go", id: "i".repeat(MAX_ID_LENGTH) }, 200],
    ["a name one too long", { name: "n".repeat(MAX_NAME_LENGTH + 1) }, 400],
    ["an empty name", { name: "" }, 400],
    ["no name", { payload: {} }, 400],
    ["a name that is a number", { name: 1 }, 400],
    ["an id one too long", { name: "go", id: "i".repeat(MAX_ID_LENGTH + 1) }, 400],
    ["an empty id", { name: "go", id: "" }, 400],
    ["a payload that is a list", { name: "go", payload: [] }, 400],
    ["a payload that is null", { name: "go", payload: null }, 400],
  ])("with %s", async (_, json, status) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", SIGNALS, { json });

    expect(answer.status).toBe(status);
    expect(asked).toHaveLength(status === 200 ? 1 : 0);
  });

  test("needs a body", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", SIGNALS);

    expect(answer).toMatchObject({ status: 400, json: { code: "request/invalid" } });
  });

  test.each([
    ["request/key-reused", 409],
    ["request/body-too-large", 413],
    ["engine/busy", 429],
    ["store/disk-full", 503],
  ] as const)("answers %s with %i", async (code, status) => {
    const { api } = await fakeApi({ engine: { signal: () => Promise.reject(engineError(code)) } });

    const answer = await api("POST", SIGNALS, { json: { name: "go" } });

    expect(answer).toMatchObject({ status, json: { code, status } });
  });
});

describe("a receipt", () => {
  test.each([
    ["escaped", encodeURIComponent(aReceipt.broadcastId)],
    ["escaped no more than a path needs", aReceipt.broadcastId.replace("/", "%2F")],
    ["escaped letter by letter", escapeAll(aReceipt.broadcastId)],
  ])("is found by its id, %s", async (_, id) => {
    const { api, asked } = await fakeApi();

    const answer = await api("GET", `${SIGNALS}/${id}`);

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(aReceipt);
    expect(asked).toEqual([["receipt", aReceipt.broadcastId]]);
  });

  test("of an event is also found, while it is not complete", async () => {
    const receipt = async () => ({ ...aReceipt, kind: "event" as const, complete: false });
    const { api } = await fakeApi({ engine: { receipt } });

    const answer = await api("GET", `${SIGNALS}/e`);

    expect(answer).toMatchObject({ status: 200, json: { kind: "event", complete: false } });
  });

  test("of an unknown id is 404", async () => {
    const { api } = await fakeApi();

    const answer = await api("GET", `${SIGNALS}/nope`);

    expect(answer).toMatchObject({
      status: 404,
      json: { code: "broadcast/not-found", instance: "/v1/signals/nope" },
    });
  });

  function escapeAll(text: string): string {
    return [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");
  }
});
