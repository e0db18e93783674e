import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { httpOptions } from "../../cli/dev/http-options.ts";
import { createClient } from "../../lib/client/index.ts";
import { extensions, ioMapping, job, sequence, xml } from "../support/bpmn-xml.ts";
import { aService } from "../support/http-service.ts";
import { FermataProcess } from "./fermata-process.ts";

describe("fermata dev", () => {
  test("runs HTTP tasks against the allowed hosts, with secrets from its environment", async () => {
    const service = await aService(({ headers }) => ({ body: `you are ${headers.authorization}` }));
    const origin = `http://127.0.0.1:${service.port}`;
    vi.stubEnv("FERMATA_SECRET_DEV_KEY", "key-of-the-environment");
    // A proxy would resolve names again; Node's own client would use this one.
    const proxy = await aService({ status: 502 });
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv("NO_PROXY", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = mkdtempSync(join(tmpdir(), "fermata-"));
    const server = new FermataProcess(
      ...["dev", "--no-examples", "--port", "0", "--data", folder],
      ...["--http-private", origin, "--secret", `DEV_KEY=${origin}`],
    );
    onTestFinished(async () => {
      await server.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    });
    const client = createClient({ baseUrl: await server.url() });
    const inputs = ioMapping(
      xml("zeebe:input", { target: "url", source: `${origin}/` }),
      xml("zeebe:input", { target: "headers", source: '={ Authorization: "secret:DEV_KEY" }' }),
      xml("zeebe:output", { target: "said", source: "=body" }),
    );
    const task = xml("serviceTask", { id: "call" }, extensions(job("fermata:http"), inputs));

    await client.deploy(sequence(task));
    const { instanceId } = await client.start("p");
    const { variables } = await client.result(instanceId, { waitSeconds: 20 });

    expect(variables).toEqual({ said: "you are [secret DEV_KEY]" });
    expect(proxy.received).toEqual([]);
    expect(service.received).toMatchObject([
      { headers: { authorization: "key-of-the-environment" } },
    ]);
  });

  test("reads hosts as repeated options or separated by commas, and refuses a secret without hosts", () => {
    expect(
      httpOptions({ allow: ["a, b", "c"], private: undefined, secrets: ["K=a,b", "L=c:8443"] }),
    ).toEqual({ allowHosts: ["a", "b", "c"], secrets: { K: ["a", "b"], L: ["c:8443"] } });
    for (const wrong of ["K", "=a", "K=", "K= , "]) {
      expect(() => httpOptions({ allow: undefined, private: undefined, secrets: [wrong] })).toThrow(
        /--secret is/,
      );
    }
  });
});
