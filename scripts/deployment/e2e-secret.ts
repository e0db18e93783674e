// The permissions of HTTP tasks in the end-to-end tests: services of this machine, and one secret.

import { CreateSecretCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { AwsPlace } from "./aws-place.ts";
import type { Context } from "./cdk.ts";

/** The secret's name in references, and its text. */
export const E2E_SECRET = { name: "E2E_KEY", text: "key-of-the-end-to-end-tests" } as const;

const HERE = "http://127.0.0.1:*";

/** Creates the secret, and returns the settings to deploy with it. */
export async function e2eSecret({ endpoint, region, credentials }: AwsPlace): Promise<Context> {
  const client = new SecretsManagerClient({
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
  });
  try {
    const { name, text } = E2E_SECRET;
    const command = new CreateSecretCommand({ Name: `fermata-${name}`, SecretString: text });
    const { ARN: secret = "" } = await client.send(command);
    return {
      httpAllowPrivate: HERE,
      httpSecrets: JSON.stringify({ [name]: { secret, hosts: [HERE] } }),
    };
  } finally {
    client.destroy();
  }
}
