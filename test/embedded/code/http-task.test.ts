import { expect, test } from "vitest";
import { aService } from "../../support/http-service.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

const allowing = (port: number) => ({ allowPrivate: [`http://127.0.0.1:${port}`] });

test("R2 a workflow in code calls a service by the task of HTTP calls", async () => {
  const service = await aService({
    status: 201,
    headers: { "content-type": "application/json" },
    body: '{"id":"o-1"}',
  });
  const engine = await anEngineWith(
    `const { status, body } = await task<any>("fermata:http", {
       method: "POST", url: "http://127.0.0.1:${service.port}/orders", body: input,
     });
     return [status, body.id];`,
    { http: allowing(service.port) },
  );

  const { result } = await run(engine, { item: "book" });

  expect(result).toEqual([201, "o-1"]);
  expect(service.received).toMatchObject([{ path: "/orders", body: '{"item":"book"}' }]);
});

test("R12 a service that refuses throws a TaskFailed with its status as the code", async () => {
  const service = await aService({ status: 404, body: "none" });
  const engine = await anEngineWith(
    `try { await task("fermata:http", { url: "http://127.0.0.1:${service.port}/orders" }); }
     catch (error: any) { return [error instanceof TaskFailed, error.code, error.attempts]; }`,
    { http: allowing(service.port) },
  );

  expect((await run(engine)).result).toEqual([true, "HTTP_404", 1]);
});
