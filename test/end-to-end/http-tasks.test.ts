import { describe, expect, test } from "vitest";
import { E2E_SECRET } from "../../scripts/deployment/e2e-secret.ts";
import { boundary, end, extensions, flow, ioMapping, job, xml } from "../support/bpmn-xml.ts";
import { chain, client, ended, eventually, fresh, historyOf, needs } from "../support/deployed.ts";
import { aService } from "../support/http-service.ts";

const input = (target: string, source: string) => xml("zeebe:input", { target, source });
const output = (target: string, source: string) => xml("zeebe:output", { target, source });

const call = (...more: readonly string[]) =>
  xml("serviceTask", { id: "call" }, extensions(job("fermata:http"), ...more));

const ordering = (port: number, ...more: readonly string[]) =>
  call(
    ioMapping(
      input("method", "POST"),
      input("url", `http://127.0.0.1:${port}/orders`),
      input("headers", `={ Authorization: "Bearer secret:${E2E_SECRET.name}" }`),
      input("body", "={ item: item }"),
      ...more,
    ),
  );

describe("a deployed HTTP task", () => {
  test("F67 calls a service with a secret of Secrets Manager, which appears nowhere afterwards", async (context) => {
    needs("loopback", context);
    const service = await aService(({ headers }) => ({
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "o-1", you: headers.authorization }),
    }));
    const id = fresh("http");
    await client.deploy(
      chain(id, [
        ordering(service.port, output("orderId", "=body.id"), output("said", "=body.you")),
      ]),
    );

    const { instanceId } = await client.start(id, { variables: { item: "book" } });
    const { status, variables } = await ended(instanceId);

    expect(status).toBe("succeeded");
    expect(variables).toEqual({
      item: "book",
      orderId: "o-1",
      said: `Bearer [secret ${E2E_SECRET.name}]`,
    });
    expect(service.received[0]).toMatchObject({
      method: "POST",
      body: '{"item":"book"}',
      headers: {
        authorization: `Bearer ${E2E_SECRET.text}`,
        "idempotency-key": expect.stringContaining(`${instanceId}:`),
      },
    });
    expect(JSON.stringify(await historyOf(instanceId))).not.toContain(E2E_SECRET.text);
  });

  test("F67 reaches a boundary event with the status", async (context) => {
    needs("loopback", context);
    const service = await aService({ status: 404, body: "no such item" });
    const id = fresh("http-404");
    const source = chain(
      id,
      [ordering(service.port)],
      xml("error", { id: "gone", errorCode: "HTTP_404" }),
    );
    const caught = [
      boundary("missing", "call", xml("errorEventDefinition", { errorRef: "gone" })),
      end("end2"),
      flow("f9", "missing", "end2"),
    ];
    await client.deploy(source.replace("</process>", `${caught.join("\n")}</process>`));

    const { instanceId } = await client.start(id, { variables: { item: "book" } });
    const { status } = await ended(instanceId);

    expect(status).toBe("succeeded");
    expect((await historyOf(instanceId)).map(({ type }) => type)).toContain("error-caught");
  });

  test("cannot reach instance metadata, and stops at an incident that says so", async () => {
    const id = fresh("http-metadata");
    const url = "http://169.254.169.254/latest/meta-data/";
    await client.deploy(chain(id, [call(ioMapping(input("url", url)))]));

    const { instanceId } = await client.start(id);
    const incident = await eventually("an incident", async () => {
      const { incidents } = await client.get(instanceId);
      return incidents[0];
    });
    await client.cancel(instanceId);

    expect(incident.message).toContain("is not allowed");
  });
});
