import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { say } from "./recording-terminal.ts";

const LIVE = {
  type: "/docs/reference/errors.md#instancenot-ended",
  title: "The instance has not ended",
  status: 409,
  detail: "The instance has not ended yet",
  code: "instance/not-ended",
};

/** An engine behind a gateway: it never waits long, whatever the request says. */
async function aGateway({ endsAfterLooks = Number.POSITIVE_INFINITY } = {}) {
  const asked: number[] = [];
  const server = createServer(({ method, url = "" }, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (method === "POST") {
      answer(201, { instanceId: "one", definition: { id: "p", version: 1 } });
      return;
    }
    asked.push(Number(new URL(url, "http://here").searchParams.get("waitSeconds")));
    if (asked.length > endsAfterLooks) answer(200, { status: "succeeded", variables: { n: 1 } });
    else {
      response.setHeader("content-type", "application/problem+json");
      response.writeHead(409).end(JSON.stringify(LIVE));
    }
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { asked, url: `http://127.0.0.1:${port}` };
}

describe("fermata start --wait, if the server responds earlier", () => {
  test("polls until the instance has ended", async () => {
    const { url, asked } = await aGateway({ endsAfterLooks: 2 });

    const said = await say(["start", "p", "--wait", "20", "--json", "--url", url]);

    expect(said).toMatchObject({ exitCode: 0, errors: [] });
    expect(JSON.parse(said.out.join(""))).toMatchObject({ status: "succeeded" });
    expect(asked).toHaveLength(3);
  });

  test("gives up when the time is over", async () => {
    const { url, asked } = await aGateway();

    const said = await say(["start", "p", "--wait", "1", "--url", url]);

    expect(said.exitCode).toBe(1);
    expect(said.errors.join("\n")).toContain("instance/not-ended");
    expect(Math.max(...asked)).toBe(1);
  });

  test("polls once without a waiting time", async () => {
    const { url, asked } = await aGateway();

    expect(await say(["start", "p", "--wait", "0", "--url", url])).toMatchObject({ exitCode: 1 });
    expect(asked).toEqual([0]);
  });
});
