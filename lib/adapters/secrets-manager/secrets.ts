import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import type { Clock } from "../../ports/clock.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Secrets } from "../../ports/secrets.ts";

/** Where a secret is: the whole text, or one field of its JSON object. */
export type SecretPlace = Readonly<{ arn: string; field?: string }>;

type Options = Readonly<{
  client: SecretsManagerClient;
  /** By the names that references use. */
  places: Readonly<Record<string, SecretPlace>>;
  clock: Pick<Clock, "now">;
}>;

/** How long a secret is cached: a changed secret is in use everywhere after this time. */
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
    // A failed read is not cached: the next request reads again.
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

/** Undefined as well where the text is not JSON: a parser's error would quote it. */
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
    cause,
  });
}
