import type { Duration } from "aws-cdk-lib";
import type { Verb } from "./routes.ts";

/** How callers authenticate. */
export type Auth =
  /** Callers sign their requests; their IAM policies say what they may call. */
  | Readonly<{ kind: "iam" }>
  /** Callers send a token of this issuer that has the scope of the call. */
  | Readonly<{
      kind: "jwt";
      issuer: string;
      audience: readonly string[];
      /** The scope of a verb, where it is not `fermata/<verb>`. */
      scopes?: Partial<Record<Verb, string>>;
    }>
  /** No authentication: anyone who reaches the address may do everything. For local use only. */
  | Readonly<{ kind: "none" }>;

/** Which web pages may call. */
export type Cors = Readonly<{
  /** Such as `https://console.example.com`. */
  origins: readonly string[];
  /** How long a browser may cache the preflight response; an hour by default. */
  maxAge?: Duration;
}>;

/** The rate limit of calls; more are answered with 429. */
export type Throttle = Readonly<{ perSecond: number; burst: number }>;
