import { randomUUID } from "node:crypto";
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { afterAll, describe, expect, test } from "vitest";
import { SecretsManagerSecrets } from "../../lib/adapters/secrets-manager/secrets.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { secretsContract } from "../contract/secrets.contract.ts";
import { emulated } from "../support/emulator.ts";

const client = new SecretsManagerClient(emulated());
afterAll(() => client.destroy());

const clock = { now: () => instantFrom(0) };

secretsContract("secrets of Secrets Manager", async (texts) => {
  const places = await Promise.all(
    Object.entries(texts).map(async ([name, text]) => [name, { arn: await create(text) }] as const),
  );
  return new SecretsManagerSecrets({ client, places: Object.fromEntries(places), clock });
});

describe("secrets of Secrets Manager", () => {
  test("are cached for five minutes, and then read again", async () => {
    const arn = await create("before");
    let now = 0;
    const later = { now: () => instantFrom(now) };
    const secrets = new SecretsManagerSecrets({ client, places: { KEY: { arn } }, clock: later });
    const seen = [await secrets.valueOf("KEY")];
    await client.send(new PutSecretValueCommand({ SecretId: arn, SecretString: "after" }));

    now = 299_999;
    seen.push(await secrets.valueOf("KEY"));
    now = 300_000;
    seen.push(await secrets.valueOf("KEY"));

    expect(seen).toEqual(["before", "before", "after"]);
  });

  test("may be one field of an object", async () => {
    const arn = await create(JSON.stringify({ key: "the key", port: 8080 }));
    const text = await create("no JSON, but secret");
    const secrets = new SecretsManagerSecrets({
      client,
      clock,
      places: {
        KEY: { arn, field: "key" },
        PORT: { arn, field: "port" },
        NONE: { arn, field: "none" },
        TEXT: { arn: text, field: "key" },
      },
    });

    const all = await Promise.all(
      ["KEY", "PORT", "NONE", "TEXT"].map((name) => secrets.valueOf(name)),
    );

    expect(all).toEqual(["the key", undefined, undefined, undefined]);
  });

  test("that do not exist yet are looked up again", async () => {
    const name = `fermata-${randomUUID()}`;
    const secrets = new SecretsManagerSecrets({ client, places: { KEY: { arn: name } }, clock });
    const before = await secrets.valueOf("KEY");
    await create("made since", name);

    expect([before, await secrets.valueOf("KEY")]).toEqual([undefined, "made since"]);
  });

  test("that cannot be read throw an error that names them, and are not cached for ever", async () => {
    const nowhere = new SecretsManagerClient({
      ...emulated(),
      endpoint: "http://127.0.0.1:1",
      maxAttempts: 1,
    });
    const secrets = new SecretsManagerSecrets({
      client: nowhere,
      places: { KEY: { arn: "a" } },
      clock,
    });

    for (let turn = 1; turn <= 2; turn++) {
      await expect(secrets.valueOf("KEY")).rejects.toMatchObject({
        code: "secrets/read-failed",
        retryable: true,
        message: expect.stringContaining("secret KEY"),
      });
    }
    nowhere.destroy();
  });
});

async function create(text: string, name = `fermata-${randomUUID()}`): Promise<string> {
  const { ARN } = await client.send(new CreateSecretCommand({ Name: name, SecretString: text }));
  return ARN ?? "";
}
