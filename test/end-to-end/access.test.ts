import { describe, expect, test } from "vitest";
import { awsSigner } from "../../lib/client/aws/index.ts";
import { createClient } from "../../lib/client/index.ts";
import { client, needs, target } from "../support/deployed.ts";

describe("the API of a deployment", () => {
  test("answers signed requests", async () => {
    expect(await client.health()).toMatchObject({ status: "ok", clock: "real" });
  });

  test.for([
    ["GET", "/v1/health"],
    ["GET", "/v1/instances"],
    ["POST", "/v1/signals"],
    ["PUT", "/v1/event-types/x"],
    ["DELETE", "/v1/definitions/x"],
  ] as const)("answers 403 to an anonymous %s %s", async ([method, path], context) => {
    needs("iam", context);

    const { status } = await fetch(`${target.apiUrl}${path}`, { method });

    expect(status).toBe(403);
  });

  test("answers 403 to a signature that is not the caller's", async (context) => {
    needs("iam", context);
    const credentials = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "not the secret" };
    const stranger = createClient({
      baseUrl: target.apiUrl,
      sign: awsSigner({ region: target.region, credentials }),
    });

    await expect(stranger.list()).rejects.toMatchObject({ status: 403 });
  });
});
