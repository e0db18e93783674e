import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { commandLine, curlLine } from "../../cli/call-lines.ts";
import { serverOf } from "../../cli/server.ts";
import { openSignedGateway } from "../support/signed-gateway.ts";
import { say } from "./recording-terminal.ts";

const ORDER = resolve(import.meta.dirname, "../../examples/order/order.bpmn");
const SECRET = "a-secret-for-tests";
const GATEWAY = "https://abc123.execute-api.eu-west-1.amazonaws.com";

describe("fermata, calling a deployed engine,", () => {
  let gateway: Awaited<ReturnType<typeof openSignedGateway>>;

  beforeAll(async () => {
    const definitions = [{ id: "order", version: 1, warnings: [] }];
    gateway = await openSignedGateway(SECRET, () => ({ status: 201, body: { definitions } }));
  });
  beforeEach(() => {
    vi.stubEnv("AWS_PROFILE", undefined);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", SECRET);
    vi.stubEnv("AWS_SESSION_TOKEN", undefined);
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => gateway.close());

  test("deploys with a request signed by the default credentials", async () => {
    const said = await say([
      "deploy",
      ORDER,
      "--url",
      gateway.url,
      "--aws",
      "--region",
      "eu-west-1",
    ]);

    expect(said).toEqual({
      exitCode: 0,
      out: [`${ORDER}: order version 1 deployed`],
      errors: [],
    });
    expect(gateway.callers.at(-1)?.signedBy).toMatchObject({
      accessKeyId: "AKIDEXAMPLE",
      region: "eu-west-1",
      service: "execute-api",
    });
  });

  test("explains what to do when a signature is required", async () => {
    const said = await say(["ls", "--url", gateway.url]);

    expect(said).toMatchObject({ exitCode: 1, out: [] });
    expect(said.errors.join("\n")).toMatch(/^fermata: The gateway at .*\(Forbidden\).*--aws/);
  });

  test("finds the local deployment", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fermata-local-"));
    const before = process.cwd();
    process.chdir(folder);
    try {
      const missing = await say(["ls", "--local"]);
      mkdirSync(".fermata");
      writeFileSync(join(".fermata", "local.json"), JSON.stringify({ apiUrl: gateway.url }));
      const found = await say(["deploy", ORDER, "--local", "--aws", "--region", "eu-west-1"]);

      expect(missing).toMatchObject({ exitCode: 2 });
      expect(missing.errors.join()).toMatch(/local\.json describes no deployment.*local:up/);
      expect(found).toMatchObject({ exitCode: 0 });
    } finally {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    [["--aws", "--token", "t"], /--aws and --token cannot be combined/],
    [["--aws"], /does not contain an AWS region.*--region/],
    [["--region", "eu-west-1"], /Add --aws/],
    [["--local"], /--local and --url cannot be combined/],
  ])("refuses %j", async (options, reason) => {
    const said = await say(["ls", "--url", gateway.url, ...options]);

    expect(said).toMatchObject({ exitCode: 2, out: [] });
    expect(said.errors.join()).toMatch(reason);
  });
});

describe("the server that the options name", () => {
  const named = (given: Parameters<typeof serverOf>[0], environment = {}) =>
    serverOf(given, { environment });

  test("is signed for automatically when it is an API Gateway", () => {
    expect(named({ url: `${GATEWAY}/` })).toEqual({ url: GATEWAY, signedFor: "eu-west-1" });
    expect(named({}, { FERMATA_URL: GATEWAY, AWS_REGION: "us-east-1" })).toEqual({
      url: GATEWAY,
      signedFor: "eu-west-1",
    });
  });

  test("gets a token instead, if there is one", () => {
    expect(named({ url: GATEWAY, token: "t" })).toEqual({ url: GATEWAY, token: "t" });
    expect(named({ url: GATEWAY }, { FERMATA_TOKEN: "t" })).toEqual({ url: GATEWAY, token: "t" });
  });

  test("is signed for on request, even if a token is set", () => {
    const environment = { FERMATA_TOKEN: "t", AWS_DEFAULT_REGION: "us-east-2" };

    expect(named({ url: "https://engine.example.com", aws: true }, environment)).toEqual({
      url: "https://engine.example.com",
      signedFor: "us-east-2",
    });
  });

  test("is part of commands that can be pasted", () => {
    const gateway = named({ url: GATEWAY });
    const custom = named({ url: "https://engine.example.com", aws: true, region: "us-east-2" });
    const call = { method: "POST", path: "/v1/signals", body: { name: "go" } };

    expect(curlLine(gateway, call)).toBe(
      `curl -X POST '${GATEWAY}/v1/signals' --aws-sigv4 aws:amz:eu-west-1:execute-api --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \${AWS_SESSION_TOKEN:+-H"x-amz-security-token: $AWS_SESSION_TOKEN"} -H 'content-type: application/json' -d '{"name":"go"}'`,
    );
    expect(commandLine("fermata", gateway, ["signal", "go"])).toBe(
      `fermata signal go --url ${GATEWAY}`,
    );
    expect(commandLine("fermata", custom, ["signal", "go"])).toBe(
      "fermata signal go --url https://engine.example.com --aws --region us-east-2",
    );
  });
});
