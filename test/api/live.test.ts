import { describe, expect, onTestFinished, test } from "vitest";
import { serveEngine } from "../../lib/embedded/index.ts";
import { type CheckedApi, checkedApi, sendTo } from "../support/api-client.ts";
import { end, file, flow, process, service, start, timer, xml } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

/** The real engine over the wire; every answer is held against the document that it serves. */
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

  test("tells the life of an instance as its document says", async () => {
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

  test("lists, disables, enables and undeploys as its document says", async () => {
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

type Item = Readonly<{ wakeWith?: Readonly<{ method: string; path: string }> }>;

function parseItems(json: Readonly<Record<string, unknown>>): readonly Item[] {
  return json.items as readonly Item[];
}
