import { describe, expect, test } from "vitest";
import { operations } from "../../lib/api/operations.ts";
import { createApi } from "../../lib/api/router.ts";
import { ApiError, createClient } from "../../lib/client/index.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { aDeadLetter, aReceipt, undeclared } from "../support/canned-views.ts";
import { type Asked, fakeEngine } from "../support/fake-engine.ts";

/** A client whose fetch is the router itself. */
function aClient(overrides: Partial<Engine> = {}, token?: string) {
  const { engine, asked } = fakeEngine(overrides);
  const advance = async (by: string) => ({ now: by, fired: 0, left: [] });
  const api = createApi({
    engine,
    extras: { clock: { advance }, waitForEnd: async () => {} },
    settings: { version: "1", ...(token !== undefined && { token }) },
  });
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const { status, headers, body } = await api({
      method: request.method,
      path: url.pathname,
      query: url.search.slice(1),
      headers: Object.fromEntries(request.headers),
      body: new Uint8Array(await request.arrayBuffer()),
    });
    return new Response(typeof body === "string" ? body : new Uint8Array(body), {
      status,
      headers,
    });
  };
  const options = { baseUrl: "http://engine.test/", fetch };
  return { client: createClient(token === undefined ? options : { ...options, token }), asked };
}

describe("the client", () => {
  test("has a method for every operation", () => {
    const { client } = aClient();
    // One version is an argument of `definition`.
    const ids = operations.map(({ id }) => id).filter((id) => id !== "definitionVersion");

    expect(Object.keys(client).toSorted()).toEqual(ids.toSorted());
  });

  test("passes all arguments on", async () => {
    const { client, asked } = aClient();
    const variables = { total: 42 };

    await client.deploy("<ü/>");
    await client.deploy({ notation: "bpmn", source: "<a/>" });
    await client.validate(new TextEncoder().encode("<a/>"));
    await client.definitions({ limit: 1 });
    await client.definition("order");
    await client.definition("order", 1);
    await client.versions("order", { cursor: "bW9yZQ" });
    await client.enable("order");
    await client.disable("order");
    await client.listing("order");
    await client.setListing("order", { shards: 8 });
    await client.undeploy("order");
    await client.start("order", { variables }, { idempotencyKey: "k" });
    await client.get("live");
    await client.list({ status: "running", incident: true, limit: 5 });
    await client.result("ended", { waitSeconds: 1 });
    await client.waits("live");
    await client.history("live", { limit: 2 });
    await client.cancel("live", { reason: "r" });
    await client.resolveIncident("live", "i1", { retries: 1 });
    await client.patchVariables("live", { variables, scope: "pay" }, { idempotencyKey: "k" });
    await client.incidents({ type: "JOB_NO_RETRIES", limit: 2 });
    await client.resolveIncidents({ filter: { element: "pay" }, dryRun: false, cursor: "bW9yZQ" });
    await client.purge({ filter: { status: "failed" } });
    await client.signal({ name: "go", payload: { a: 1 }, id: "b:1" }, { idempotencyKey: "k" });
    await client.receipt(aReceipt.broadcastId);
    await client.message({ name: "paid", correlationKey: 42, timeToLive: "PT0S" });
    await client.event({ name: "seen", payload: [1], target: "live" }, { idempotencyKey: "k" });
    await client.setEventType("a/b", { deliveryMode: "All" });
    await client.setEventType("seen");
    await client.eventType("a/b");
    await client.deadLetters({ name: "paid", limit: 3 });
    await client.replayDeadLetter(aDeadLetter.id);
    await client.removeDeadLetter(aDeadLetter.id);
    await client.tasks({ type: "charge" });
    await client.completeTask("live:1", { variables });
    await client.failTask("live:1", { message: "m" });
    await client.recover();

    const expected: readonly Asked[] = [
      ["deploy", { notation: "bpmn", source: "<ü/>" }],
      ["deploy", { notation: "bpmn", source: "<a/>" }],
      ["validate", { notation: "bpmn", source: "<a/>" }],
      ["definitions", { limit: 1 }],
      ["definition", "order"],
      ["definition", "order", 1],
      ["versions", "order", { limit: 50, cursor: "more" }],
      ["enable", "order"],
      ["disable", "order"],
      ["listing", "order"],
      ["setListing", "order", { shards: 8 }],
      ["undeploy", "order"],
      ["start", "order", { variables }, "k"],
      ["get", "live"],
      ["list", { status: "running", incident: true }, { limit: 5 }],
      ["result", "ended"],
      ["waits", "live"],
      ["history", "live", { limit: 2 }],
      ["cancel", "live", { reason: "r" }, undefined],
      ["resolveIncident", "live", "i1", { retries: 1 }, undefined],
      ["patchVariables", "live", { variables, scope: "pay" }, "k"],
      ["incidents", { type: "JOB_NO_RETRIES" }, { limit: 2 }],
      ["resolveIncidents", { filter: { element: "pay" }, dryRun: false, cursor: "more" }],
      ["purge", { filter: { status: "failed" } }],
      ["signal", { name: "go", payload: { a: 1 }, id: "b:1" }, "k"],
      ["receipt", aReceipt.broadcastId],
      ["message", { name: "paid", correlationKey: "42", timeToLive: "PT0S" }, undefined],
      ["event", { name: "seen", payload: [1], target: "live" }, "k"],
      ["setEventType", "a/b", { ...undeclared, deliveryMode: "All" }],
      ["setEventType", "seen", undeclared],
      ["eventType", "a/b"],
      ["deadLetters", { name: "paid" }, { limit: 3 }],
      ["replayDeadLetter", aDeadLetter.id],
      ["removeDeadLetter", aDeadLetter.id],
      ["tasks", { type: "charge" }, { limit: 50 }],
      ["completeTask", "live:1", { variables }, undefined],
      ["failTask", "live:1", { message: "m" }, undefined],
      ["recover"],
    ];
    expect(asked).toEqual(expected);
  });

  test("returns the engine's responses", async () => {
    const { client } = aClient();

    expect(await client.deploy("<again/>")).toMatchObject({ created: false });
    expect(await client.start("order", { instanceId: "mine" })).toMatchObject({
      instanceId: "mine",
      status: "running",
    });
    expect(await client.signal({ name: "go" }, { idempotencyKey: "k" })).toEqual({
      broadcastId: "k",
      deliveredCount: 3,
      startedCount: 1,
    });
    expect(await client.signal({ name: "many", id: "mine" })).toEqual({ broadcastId: "mine" });
    expect(await client.receipt(aReceipt.broadcastId)).toEqual(aReceipt);
    expect(await client.event({ name: "many" })).toEqual({ id: "made" });
    expect((await client.deadLetters()).items).toEqual([aDeadLetter]);
    expect(await client.advanceClock("P1D")).toEqual({ now: "P1D", fired: 0, left: [] });
    expect(await client.health()).toEqual({ status: "ok", version: "1", clock: "virtual" });
    expect(await client.openApi()).toMatchObject({ openapi: "3.1.0" });
  });

  test("reads a source in the encoding of the response", async () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>';
    const { client } = aClient({ source: async () => ({ notation: "bpmn", text }) });

    expect(await client.source("order", 1)).toBe(text);
  });

  test("encodes ids for the path", async () => {
    const { client, asked } = aClient();

    await expect(client.get("a/../b?c#d %")).rejects.toMatchObject({ code: "instance/not-found" });

    expect(asked).toEqual([["get", "a/../b?c#d %"]]);
  });

  test("throws the problem that the engine returns", async () => {
    const { client } = aClient();

    const error = await client.deploy("<broken/>").catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 422,
      code: "definition/invalid",
      errors: [{ line: 3 }, { line: 3 }],
      problem: { instance: "/v1/definitions" },
      message: "It did not go (here). Do it otherwise. [definition/invalid]",
    });
  });

  test("sends its token", async () => {
    const { client } = aClient({}, "s3cret");

    expect(await client.get("live")).toMatchObject({ instanceId: "live" });
  });

  test("reports a response that is not from an engine", async () => {
    const fetch = async () => new Response("<html>", { status: 502, statusText: "Bad Gateway" });
    const client = createClient({ baseUrl: "http://proxy.test", fetch });

    await expect(client.health()).rejects.toMatchObject({
      status: 502,
      code: "client/not-an-engine",
    });
  });
});
