import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import type { Clock } from "../../ports/clock.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Secrets } from "../../ports/secrets.ts";

/** Where a secret is: all of its text, or one field of the JSON object that it is. */
export type SecretPlace = Readonly<{ arn: string; field?: string }>;

type Options = Readonly<{
  client: SecretsManagerClient;
  /** By the names that references use. */
  places: Readonly<Record<string, SecretPlace>>;
  clock: Pick<Clock, "now">;
}>;

/** How long a text is remembered: a secret that was changed counts after this time everywhere. */
const KEPT_MS = 300_000;

type Kept = Readonly<{ until: number; value: Promise<string | undefined> }>;

/** Secrets of AWS Secrets Manager, read when they are first needed and then every five minutes. */
export class SecretsManagerSecrets implements Secrets {
  readonly #options: Options;
  readonly #kept = new Map<string, Kept>();

  constructor(options: Options) {
    this.#options = options;
  }

  async valueOf(name: string): Promise<string | undefined> {
    const { places, clock } = this.#options;
    const place = Object.hasOwn(places, name) ? places[name] : undefined;
    if (place === undefined) return undefined;
    const kept = this.#kept.get(name);
    if (kept !== undefined && clock.now() < kept.until) return kept.value;
    const value = this.#read(name, place);
    this.#kept.set(name, { until: clock.now() + KEPT_MS, value });
    // What could not be read is asked for again by the next who needs it.
    value.then(
      (text) => text === undefined && this.#kept.delete(name),
      () => this.#kept.delete(name),
    );
    return value;
  }

  async #read(name: string, { arn, field }: SecretPlace): Promise<string | undefined> {
    try {
      const command = new GetSecretValueCommand({ SecretId: arn });
      const { SecretString: text } = await this.#options.client.send(command);
      return field === undefined || text === undefined ? text : fieldOf(text, field);
    } catch (cause) {
      if (cause instanceof ResourceNotFoundException) return undefined;
      throw unreadable(name, cause);
    }
  }
}

/** Undefined as well where the text is no JSON: an error of the parser would quote it. */
function fieldOf(text: string, field: string): string | undefined {
  try {
    const object: unknown = JSON.parse(text);
    const isObject = typeof object === "object" && object !== null;
    const value: unknown = isObject ? Reflect.get(object, field) : undefined;
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function unreadable(name: string, cause: unknown): EngineError {
  const reason = cause instanceof Error ? cause.name : "no answer";
  return new EngineError("secrets/read-failed", {
    happened: "A secret could not be read",
    where: `secret ${name}; ${reason}`,
    fix: "The task is tried again. If this goes on, look at the secret's policy and key, and at the function's permissions.",
    retryable: true,
    cause,
  });
}
