import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { awsRegionOf, awsSigner, SigningError } from "../../lib/client/aws/index.ts";
import { createClient } from "../../lib/client/index.ts";
import { openSignedGateway } from "../support/signed-gateway.ts";
import { type Arrived, verifySignature } from "../support/verify-signature.ts";

const SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const CREDENTIALS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: SECRET };
const SIGNED = { accessKeyId: "AKIDEXAMPLE", region: "eu-central-1", service: "execute-api" };

describe("the verification of signatures", () => {
  // From the published test suite (get-vanilla) and from the documentation's walk-through.
  const published: readonly (Arrived & { signature: string; scope: string; signed: string })[] = [
    {
      method: "GET",
      target: "/",
      headers: { host: "example.amazonaws.com", "x-amz-date": "20150830T123600Z" },
      body: new Uint8Array(),
      scope: "20150830/us-east-1/service/aws4_request",
      signed: "host;x-amz-date",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    },
    {
      method: "GET",
      target: "/?Action=ListUsers&Version=2010-05-08",
      headers: {
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        host: "iam.amazonaws.com",
        "x-amz-date": "20150830T123600Z",
      },
      body: new Uint8Array(),
      scope: "20150830/us-east-1/iam/aws4_request",
      signed: "content-type;host;x-amz-date",
      signature: "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    },
  ];

  test.each(published)("accepts the published signature of $target", (example) => {
    const { scope, signed, signature } = example;
    const authorization = `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    const request = { ...example, headers: { ...example.headers, authorization } };

    expect(verifySignature(request, () => SECRET)).toMatchObject({ accessKeyId: "AKIDEXAMPLE" });
    expect(verifySignature({ ...request, target: "/other" }, () => SECRET)).toBeUndefined();
  });
});

describe("a client with an AWS signer", () => {
  let gateway: Awaited<ReturnType<typeof openSignedGateway>>;
  const last = () => gateway.callers.at(-1);
  const aClient = (options: Parameters<typeof awsSigner>[0] = {}, path = "") =>
    createClient({
      baseUrl: `${gateway.url}${path}`,
      sign: awsSigner({ region: "eu-central-1", credentials: CREDENTIALS, ...options }),
    });

  beforeAll(async () => {
    gateway = await openSignedGateway(SECRET);
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => gateway.close());

  test("signs calls without a body, for execute-api and its region", async () => {
    await aClient().health();

    expect(last()).toMatchObject({ target: "/v1/health", signedBy: SIGNED });
  });

  test("signs the bytes that it sends", async () => {
    await aClient().deploy(new Uint8Array([0xef, 0xbb, 0xbf, 0x00, 0xff]));
    expect(last()?.signedBy).toMatchObject(SIGNED);

    await aClient().start("order", { variables: { name: "Zoë" } }, { idempotencyKey: "k 1" });
    expect(last()?.signedBy).toMatchObject(SIGNED);
    expect(last()?.headers["idempotency-key"]).toBe("k 1");
  });

  test.each(["a/../b?c#d %", "ü:@=+&$,;", "!'()*", "%2F", "."])(
    "signs a path that holds %j",
    async (id) => {
      await aClient().get(`x${id}`);

      expect(last()?.signedBy).toMatchObject(SIGNED);
      expect(decodeURIComponent(last()?.target.split("/").at(-1) ?? "")).toBe(`x${id}`);
    },
  );

  test("signs any query", async () => {
    const cursor = "a+b/c== &ü~*'()!";

    await aClient().deadLetters({ name: "order paid", cursor, limit: 3 });

    expect(last()?.signedBy).toMatchObject(SIGNED);
    expect(new URLSearchParams(last()?.target.split("?")[1]).get("cursor")).toBe(cursor);
  });

  test("signs paths with a stage prefix", async () => {
    await aClient({}, "/prod/").validate("<a/>");

    expect(last()).toMatchObject({ target: "/prod/v1/definitions:validate", signedBy: SIGNED });
  });

  test("sends the session token, signed", async () => {
    await aClient({ credentials: { ...CREDENTIALS, sessionToken: "a-session" } }).health();

    expect(last()?.headers["x-amz-security-token"]).toBe("a-session");
    expect(last()?.headers.authorization).toContain("x-amz-security-token");
    expect(last()?.signedBy).toMatchObject(SIGNED);
  });

  test("resolves credentials for every call, so that renewed ones are used", async () => {
    const sessions = ["first", "second"];
    const client = aClient({
      credentials: async () => ({ ...CREDENTIALS, sessionToken: sessions.shift() ?? "none" }),
    });

    await client.health();
    await client.health();

    expect(last()?.headers["x-amz-security-token"]).toBe("second");
  });

  test("finds credentials and region like all AWS tools", async () => {
    vi.stubEnv("AWS_PROFILE", undefined);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", SECRET);
    vi.stubEnv("AWS_SESSION_TOKEN", undefined);
    vi.stubEnv("AWS_REGION", "ap-south-1");

    await createClient({ baseUrl: gateway.url, sign: awsSigner() }).health();

    expect(last()?.signedBy).toMatchObject({ ...SIGNED, region: "ap-south-1" });
  });

  test("reports that credentials are missing, and sends nothing", async () => {
    const before = gateway.callers.length;
    const credentials = async () => {
      throw new Error("Could not load credentials from any providers");
    };

    const calling = aClient({ credentials }).health();

    await expect(calling).rejects.toThrow(SigningError);
    await expect(calling).rejects.toThrow(/any providers\. Give AWS credentials: .*AWS_PROFILE/);
    expect(gateway.callers).toHaveLength(before);
  });

  test("reports that the region is missing", async () => {
    vi.stubEnv("AWS_REGION", undefined);
    vi.stubEnv("AWS_DEFAULT_REGION", undefined);
    const sign = awsSigner({ credentials: CREDENTIALS });

    const calling = createClient({ baseUrl: gateway.url, sign }).health();

    await expect(calling).rejects.toThrow(/its AWS region is not known/);
  });

  test("is refused with the wrong secret, and says what to check", async () => {
    const credentials = { ...CREDENTIALS, secretAccessKey: "another" };

    const calling = aClient({ credentials }).health();

    await expect(calling).rejects.toMatchObject({ status: 403, code: "client/gateway-refused" });
    await expect(calling).rejects.toThrow(/execute-api:Invoke/);
  });
});

describe("the region of a URL", () => {
  test.each([
    ["https://abc123.execute-api.us-east-1.amazonaws.com", "us-east-1"],
    ["https://abc123.execute-api.eu-central-2.amazonaws.com/prod", "eu-central-2"],
    ["https://abc123.execute-api.us-gov-west-1.amazonaws.com/", "us-gov-west-1"],
    ["https://abc123.execute-api.cn-north-1.amazonaws.com.cn/", "cn-north-1"],
    ["https://abc-vpce-1.execute-api.us-east-1.vpce.amazonaws.com/", "us-east-1"],
    ["https://abc123.execute-api.us-east-1.api.aws/", "us-east-1"],
    ["https://abc123.execute-api-fips.us-east-1.amazonaws.com/", "us-east-1"],
    ["https://engine.example.com/", undefined],
    ["https://abc.execute-api.us-east-1.amazonaws.com.example.com/", undefined],
    ["http://abc123.execute-api.localhost:4566/", undefined],
    ["not a url", undefined],
  ])("%s is in %s", (url, region) => {
    expect(awsRegionOf(url)).toBe(region);
  });
});
