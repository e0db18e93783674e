import type { Secrets } from "../../ports/secrets.ts";

/** Secrets of the environment: NAME is the variable FERMATA_SECRET_NAME. Empty ones are absent. */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>): Secrets {
  return { valueOf: async (name) => env[`FERMATA_SECRET_${name}`] || undefined };
}
