import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { anEngine } from "../support/embedded.ts";
import { aService } from "../support/http-service.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/http-task.md"), "utf8");
const [, snippet = ""] = /```xml\n([\s\S]*?)```/.exec(page) ?? [];

/** The page's example in a process, with a local service in place of the one that it names. */
const example = (origin: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="http://example.com">
<bpmn:error id="conflict" errorCode="HTTP_409" />
<bpmn:process id="p" isExecutable="true">
<bpmn:startEvent id="start" />
${snippet.replace("https://stock.example.com", origin)}
<bpmn:endEvent id="end" />
<bpmn:endEvent id="end-2" />
<bpmn:sequenceFlow id="f1" sourceRef="start" targetRef="reserve" />
<bpmn:sequenceFlow id="f2" sourceRef="reserve" targetRef="end" />
<bpmn:sequenceFlow id="f3" sourceRef="sold-out" targetRef="end-2" />
</bpmn:process>
</bpmn:definitions>
`;

describe("the example of docs/reference/http-task.md", () => {
  test.each([
    ["reserves what is there", 201, { reservation: "r-1" }],
    ["goes another way when it is sold out", 409, { why: "none is left" }],
  ])("%s", async (_, status, outcome) => {
    const service = await aService({
      status,
      headers: { "content-type": "application/json" },
      body: '{"id":"r-1","message":"none is left"}',
    });
    const origin = `http://127.0.0.1:${service.port}`;
    const engine = await anEngine({
      source: example(origin),
      http: {
        allowPrivate: [origin],
        secrets: { STOCK_KEY: [origin] },
        readSecret: () => "key-of-the-stock",
      },
    });

    const { instanceId } = await engine.start("p", { variables: { item: "book", count: 2 } });
    const { status: ended, variables } = await engine.result(instanceId);

    expect(ended).toBe("succeeded");
    expect(variables).toEqual({ item: "book", count: 2, ...outcome });
    expect(service.received).toMatchObject([
      {
        method: "POST",
        path: "/items/book/reservations",
        body: '{"count":2}',
        headers: { authorization: "Bearer key-of-the-stock" },
      },
    ]);
  });
});
