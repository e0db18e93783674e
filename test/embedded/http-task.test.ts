import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  boundary,
  end,
  extensions,
  flow,
  ioMapping,
  job,
  sequence,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";
import { aService, type Service } from "../support/http-service.ts";

const input = (target: string, source: string) => xml("zeebe:input", { source, target });
const output = (source: string, target: string) => xml("zeebe:output", { source, target });

const call = (...more: readonly string[]) =>
  xml("serviceTask", { id: "call" }, extensions(job("fermata:http", { retries: "2" }), ...more));

const order = (port: number, ...more: readonly string[]) =>
  call(
    ioMapping(
      input("method", "POST"),
      input("url", `http://127.0.0.1:${port}/orders`),
      input("headers", '={ Authorization: "Bearer secret:API_KEY" }'),
      input("body", "={ item: item }"),
      ...more,
    ),
  );

const API_KEY = "key-that-nobody-sees";

/** May call this service, with its key. */
const reaching = ({ port }: Service) => ({
  allowPrivate: [`http://127.0.0.1:${port}`],
  secrets: { API_KEY: [`http://127.0.0.1:${port}`] },
  readSecret: (name: string) => (name === "API_KEY" ? API_KEY : undefined),
});

describe("an HTTP task", () => {
  test("F67 calls a service with mapped inputs, a secret and a key, and maps the response", async () => {
    const service = await aService({
      status: 201,
      headers: { "content-type": "application/json" },
      body: `{"id":"o-1","auth":"Bearer ${API_KEY}"}`,
    });
    const engine = await anEngine({
      source: sequence(
        order(service.port, output("=body.id", "orderId"), output("=body.auth", "echoed")),
      ),
      http: reaching(service),
    });

    const { instanceId } = await engine.start("p", { variables: { item: "book" } });

    expect((await engine.result(instanceId)).variables).toEqual({
      item: "book",
      orderId: "o-1",
      echoed: "Bearer [secret API_KEY]",
    });
    expect(service.received).toMatchObject([
      {
        method: "POST",
        path: "/orders",
        body: '{"item":"book"}',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          "content-type": "application/json",
          "idempotency-key": `${instanceId}:k1.1`,
        },
      },
    ]);
  });

  test("reaches a boundary event with HTTP_<status>, and its variables", async () => {
    const service = await aService({
      status: 409,
      headers: { "content-type": "application/json" },
      body: '{"why":"sold out"}',
    });
    const engine = await anEngine({
      source: sequence(
        order(service.port),
        xml(
          "boundaryEvent",
          { id: "sold-out", attachedToRef: "call" },
          extensions(ioMapping(output("=body.why", "why"), output("=status", "code"))),
          xml("errorEventDefinition", { errorRef: "conflict" }),
        ),
        end("end2"),
        flow("f3", "sold-out", "end2"),
      ).replace("<process", '<error id="conflict" errorCode="HTTP_409" /><process'),
      http: reaching(service),
    });

    const { instanceId } = await engine.start("p", { variables: { item: "book" } });
    const { variables } = await engine.result(instanceId);

    expect(variables).toEqual({ item: "book", why: "sold out", code: 409 });
  });

  test("keeps secrets out of state, history and incidents", async () => {
    const service = await aService({ raw: (request) => request.socket.destroy() });
    const dataDir = aDataDir();
    const engine = await anEngine({
      dataDir,
      source: sequence(order(service.port)),
      http: reaching(service),
    });

    const { instanceId } = await engine.start("p", { variables: { item: "book" } });
    await expect
      .poll(async () => (await engine.get(instanceId)).incidents)
      .toMatchObject([{ type: "JOB_NO_RETRIES" }]);
    const view = await engine.get(instanceId);
    const history = await engine.history(instanceId);

    expect(JSON.stringify([view, history])).not.toContain(API_KEY);
    expect(history.items.filter(({ type }) => type === "task-failed")).toHaveLength(2);
    await engine.close();
    const stored = readdirSync(dataDir).map((file) => readFileSync(join(dataDir, file)));
    expect(stored.some((bytes) => bytes.includes(instanceId))).toBe(true);
    expect(stored.some((bytes) => bytes.includes(API_KEY))).toBe(false);
  });

  test("reports all its errors in one incident, without a second attempt", async () => {
    const engine = await anEngine({
      source: sequence(call(ioMapping(input("method", "FETCH"), input("timeout", "PT1H")))),
    });

    const { instanceId } = await engine.start("p");
    await expect.poll(async () => (await engine.get(instanceId)).incidents).toHaveLength(1);
    const [incident] = (await engine.get(instanceId)).incidents;
    const { items } = await engine.history(instanceId);

    expect(incident?.message).toMatch(/`method` .* `url` is missing.* `timeout` is "PT1H"/);
    expect(items.filter(({ type }) => type === "task-failed")).toHaveLength(1);
  });

  test("calls no private address unless it is allowed", async () => {
    const service = await aService({ body: "hello" });
    const engine = await anEngine({
      source: sequence(call(ioMapping(input("url", `http://127.0.0.1:${service.port}/`)))),
    });

    const { instanceId } = await engine.start("p");
    await expect.poll(async () => (await engine.get(instanceId)).incidents).toHaveLength(1);

    expect((await engine.get(instanceId)).incidents[0]?.message).toContain("is not allowed");
    expect(service.received).toEqual([]);
  });

  test("is aborted when it is interrupted", async () => {
    const closed = Promise.withResolvers<void>();
    const service = await aService({
      raw: (request) => request.socket.on("close", () => closed.resolve()),
    });
    const engine = await anEngine({
      source: sequence(
        order(service.port),
        boundary("late", "call", xml("timerEventDefinition", {}, xml("timeDuration", {}, "PT5S"))),
        end("end2"),
        flow("f3", "late", "end2"),
      ),
      http: reaching(service),
      advancePatienceMs: 50,
    });

    const { instanceId } = await engine.start("p", { variables: { item: "book" } });
    await engine.advanceClock("PT5S");

    expect((await engine.result(instanceId)).status).toBe("succeeded");
    await closed.promise;
  });

  test("can be replaced by a custom handler, for tests", async () => {
    const engine = await anEngine({
      source: sequence(call(ioMapping(input("url", "https://api.example.com/")))),
      tasks: { "fermata:http": ({ url }) => ({ status: 200, body: `instead of ${String(url)}` }) },
    });

    const { instanceId } = await engine.start("p");

    expect((await engine.result(instanceId)).variables).toEqual({
      status: 200,
      body: "instead of https://api.example.com/",
    });
  });

  test("cannot be configured with invalid hosts", async () => {
    await expect(anEngine({ http: { allowHosts: ["https://a/b", "*"] } })).rejects.toMatchObject({
      code: "engine/misconfigured",
      details: [
        { problem: expect.stringContaining("a/b") },
        { problem: expect.stringContaining("*") },
      ],
    });
  });
});
