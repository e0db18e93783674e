import { describe, expect, onTestFinished, test } from "vitest";
import { serveEngine } from "../../lib/embedded/index.ts";
import { type CheckedApi, checkedApi, sendTo } from "../support/api-client.ts";
import {
  aMessage,
  aSignal,
  beside,
  catching,
  end,
  file,
  flow,
  onMessage,
  onSignal,
  process,
  service,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

/**
 * The real engine over the wire; every response is validated against the document that it serves.
 */
async function aLiveApi(source: string): Promise<CheckedApi> {
  const engine = await anEngine({ source });
  const server = await serveEngine(engine, { port: 0 });
  onTestFinished(() => server.close());
  return checkedApi(sendTo(server.url));
}

const starting = (json: unknown, key?: string) => ({
  json,
  headers: key === undefined ? {} : { "idempotency-key": key },
});

describe("the API of a real engine", () => {
  const waiting = file(
    process(
      start(),
      service("work"),
      xml("intermediateCatchEvent", { id: "wait" }, timer("timeDuration", "PT1H")),
      end(),
      flow("f1", "start", "work"),
      flow("f2", "work", "wait"),
      flow("f3", "wait", "end"),
    ),
  );

  test("has the life cycle of an instance that its document describes", async () => {
    const api = await aLiveApi(waiting);
    const body = starting({ variables: { total: 42 }, businessKey: "B", tags: ["t"] }, "key-1");

    const started = await api("POST", "/v1/definitions/p/instances", body);
    const again = await api("POST", "/v1/definitions/p/instances", body);
    const other = await api("POST", "/v1/definitions/p/instances", starting({}, "key-1"));
    const id = `/v1/instances/${started.json.instanceId}`;
    const early = await api("GET", `${id}/result`);
    const tasks = await api("GET", "/v1/tasks", { query: "type=work" });
    const waits = await api("GET", `${id}/waits`);

    expect([started.status, again.status, other.status, early.status]).toEqual([
      201, 201, 409, 409,
    ]);
    expect(again.json.instanceId).toBe(started.json.instanceId);
    expect(tasks.json.items).toMatchObject([{ type: "work", variables: { total: 42 } }]);
    const { wakeWith } = parseItems(waits.json).at(0) ?? {};
    expect(wakeWith).toMatchObject({ method: "POST" });

    const woken = await api("POST", wakeWith?.path ?? "", { json: { variables: { paid: true } } });
    const gone = await api("POST", wakeWith?.path ?? "", { json: {} });
    const armed = await api("GET", `${id}/waits`);
    const advanced = await api("POST", "/v1/clock/advance", { json: { by: "PT1H" } });
    const result = await api("GET", `${id}/result`, { query: "waitSeconds=5" });
    const ended = await api("GET", id);
    const history = await api("GET", `${id}/history`, { query: "limit=200" });
    const late = await api("POST", `${id}/cancel`);

    expect([woken.status, gone.status]).toEqual([200, 404]);
    expect(armed.json.items).toMatchObject([{ kind: "timer", element: "wait" }]);
    expect(advanced.json).toMatchObject({ fired: 1, left: [] });
    expect(result.json).toMatchObject({
      status: "succeeded",
      variables: { total: 42, paid: true },
    });
    expect(ended.json).toMatchObject({ status: "succeeded", businessKey: "B", tags: ["t"] });
    expect(parseItems(history.json).at(-1)).toMatchObject({ type: "instance-ended" });
    expect(late.json).toEqual({ cancelled: false });
  });

  test("lists, disables, enables and undeploys as its document describes", async () => {
    const api = await aLiveApi(waiting);
    const path = "/v1/definitions/p";
    await api("POST", `${path}/instances`, { json: { instanceId: "one" } });
    await api("POST", `${path}/instances`, { json: { instanceId: "two" } });

    const first = await api("GET", "/v1/instances", { query: "limit=1&definition=p" });
    const second = await api("GET", "/v1/instances", {
      query: `limit=1&definition=p&cursor=${encodeURIComponent(String(first.json.nextCursor))}`,
    });
    const taken = await api("POST", `${path}/instances`, {
      json: { instanceId: "one", variables: { a: 1 } },
    });
    const versions = await api("GET", `${path}/versions`);
    const source = await api("GET", `${path}/versions/1/source`);
    const disabled = await api("POST", `${path}/disable`);
    const refused = await api("POST", `${path}/instances`);
    const enabled = await api("POST", `${path}/enable`);
    const recovered = await api("POST", "/v1/recover");
    const cancelled = await api("POST", "/v1/instances/one/cancel", { json: { reason: "enough" } });
    const undeployed = await api("DELETE", path);
    const unknown = await api("POST", `${path}/instances`);

    expect(parseItems(first.json)).toHaveLength(1);
    expect(parseItems(second.json)).toHaveLength(1);
    expect(taken.json.code).toBe("instance/id-taken");
    expect(parseItems(versions.json)).toMatchObject([{ version: 1, live: { count: 2 } }]);
    expect(source.text).toBe(waiting);
    expect(disabled.json.enabled).toBe(false);
    expect(refused.json.code).toBe("definition/disabled");
    expect(enabled.json.enabled).toBe(true);
    expect(recovered.status).toBe(200);
    expect(cancelled.json).toEqual({ cancelled: true });
    expect(undeployed.status).toBe(200);
    expect(unknown.json.code).toBe("definition/not-found");
  });

  test("refuses a broken workflow with every diagnostic, and stores nothing", async () => {
    const api = await aLiveApi(waiting);
    const headers = { "content-type": "application/xml" };

    const refused = await api("POST", "/v1/definitions", { headers, body: "<nonsense" });
    const validated = await api("POST", "/v1/definitions:validate", { headers, body: "<nonsense" });
    const same = await api("POST", "/v1/definitions", { headers, body: waiting });
    const journey = await api("POST", "/v1/definitions", {
      headers: { "content-type": "application/yaml" },
      body: "a: 1",
    });

    expect(refused).toMatchObject({ status: 422, json: { code: "definition/invalid" } });
    expect(refused.json.errors).toEqual(validated.json.diagnostics);
    expect(validated.json.valid).toBe(false);
    expect(same.status).toBe(200);
    expect(journey).toMatchObject({ status: 422, json: { code: "definition/notation-unknown" } });
  });
});

describe("signals, messages and events of a real engine", () => {
  const order = beside(
    file(
      process(
        start(),
        catching("go", onSignal("approved")),
        catching("paid", onMessage("payment")),
        end(),
        flow("f1", "start", "go"),
        flow("f2", "go", "paid"),
        flow("f3", "paid", "end"),
      ),
    ),
    aSignal("approved"),
    aMessage("payment", { key: "=orderId" }),
  );
  const starting = { json: { instanceId: "one", variables: { orderId: 42 } } };

  test("resume an instance by the calls that its waits show", async () => {
    const api = await aLiveApi(order);
    await api("POST", "/v1/definitions/p/instances", starting);

    const before = await api("GET", "/v1/instances/one/waits");
    const { wakeWith: signal } = parseItems(before.json).at(0) ?? {};
    const signalled = await api("POST", signal?.path ?? "", { json: signal?.body });
    const receipt = await api("GET", signalled.headers.location ?? "");
    const after = await api("GET", "/v1/instances/one/waits");
    const { wakeWith: message } = parseItems(after.json).at(0) ?? {};
    const sent = await api("POST", message?.path ?? "", { json: message?.body });
    const result = await api("GET", "/v1/instances/one/result", { query: "waitSeconds=5" });

    expect(before.json.items).toMatchObject([{ kind: "signal", element: "go", name: "approved" }]);
    expect(signalled).toMatchObject({ status: 200, json: { deliveredCount: 1, startedCount: 0 } });
    expect(receipt).toMatchObject({ status: 200, json: { kind: "signal", name: "approved" } });
    expect(after.json.items).toMatchObject([
      { kind: "message", element: "paid", name: "payment", correlationKey: "42" },
    ]);
    expect(sent).toMatchObject({ status: 200, json: { outcome: "delivered", instanceId: "one" } });
    expect(result.json.status).toBe("succeeded");
  });

  test("are delivered to no instance, kept or refused as the document describes", async () => {
    const api = await aLiveApi(order);
    const key = { correlationKey: 42 };

    const unheard = await api("POST", "/v1/signals", { json: { name: "approved" } });
    const unsigned = await api("GET", "/v1/signals/nope");
    const refused = await api("POST", "/v1/messages", {
      json: { name: "payment", ...key, timeToLive: "PT0S" },
    });
    const early = { json: { name: "payment", ...key, payload: { paid: true }, messageId: "m" } };
    const buffered = await api("POST", "/v1/messages", early);
    const doubled = await api("POST", "/v1/messages", early);
    const other = { json: { ...early.json, payload: { paid: false } } };
    const changed = await api("POST", "/v1/messages", other);
    await api("POST", "/v1/definitions/p/instances", starting);
    await api("POST", "/v1/signals", { json: { name: "approved", payload: { by: "me" } } });
    const result = await api("GET", "/v1/instances/one/result", { query: "waitSeconds=5" });

    expect(unheard).toMatchObject({ status: 200, json: { deliveredCount: 0, startedCount: 0 } });
    expect(unsigned).toMatchObject({ status: 404, json: { code: "broadcast/not-found" } });
    expect(refused).toMatchObject({ status: 404, json: { code: "message/no-waiter" } });
    expect(buffered.json).toMatchObject({ messageId: "m", outcome: "buffered" });
    expect(doubled.json).toMatchObject({ messageId: "m", outcome: "duplicate" });
    expect(changed).toMatchObject({ status: 409, json: { code: "request/key-reused" } });
    expect(result.json).toMatchObject({ variables: { orderId: 42, paid: true, by: "me" } });
  });

  test("leave a dead letter that can be replayed and removed", async () => {
    const api = await aLiveApi(order);
    await api("POST", "/v1/definitions/p/instances", starting);
    const event = { json: { name: "late", payload: [1], target: "one", id: "e" } };

    const undeclared = await api("GET", "/v1/event-types/late");
    const declared = await api("PUT", "/v1/event-types/late", {
      json: { onTargetTerminated: "deadLetter" },
    });
    const unknown = await api("POST", "/v1/events", { json: { name: "late", target: "nope" } });
    const queued = await api("POST", "/v1/events", event);
    await api("POST", "/v1/instances/one/cancel");
    const ended = await api("POST", "/v1/events", { json: { name: "late", target: "one" } });
    const letters = await api("GET", "/v1/dead-letters", { query: "name=late" });
    const letter = `/v1/dead-letters/${encodeURIComponent(parseItems(letters.json).at(0)?.id ?? "")}`;
    const replayed = await api("POST", `${letter}/replay`);
    const removed = await api("DELETE", letter);
    const gone = await api("DELETE", letter);

    expect(undeclared.json).toMatchObject({ declared: false, expireAfter: "P7D" });
    expect(declared.json).toMatchObject({ declared: true, onTargetTerminated: "deadLetter" });
    expect(unknown).toMatchObject({ status: 404, json: { code: "instance/not-found" } });
    expect(queued).toMatchObject({ status: 200, json: { id: "e", outcome: "queued" } });
    expect(ended).toMatchObject({ status: 410, json: { code: "instance/ended" } });
    expect(letters.json.items).toMatchObject([
      { name: "late", payload: [1], target: "one", targetStatus: "cancelled" },
    ]);
    expect(replayed).toMatchObject({ status: 200, json: { outcome: "dropped" } });
    expect(removed).toMatchObject({ status: 200, json: { removed: true } });
    expect(gone).toMatchObject({ status: 404, json: { code: "dead-letter/not-found" } });
  });
});

type Item = Readonly<{
  id?: string;
  wakeWith?: Readonly<{ method: string; path: string; body?: unknown }>;
}>;

function parseItems(json: Readonly<Record<string, unknown>>): readonly Item[] {
  return json.items as readonly Item[];
}
