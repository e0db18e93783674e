import type { Duration } from "aws-cdk-lib";
import type { Verb } from "./routes.ts";

/** How callers show who they are. */
export type Auth =
  /** They sign their calls; what they may call is written in their own policies. */
  | Readonly<{ kind: "iam" }>
  /** They bring a token of this issuer that has the scope of what they call. */
  | Readonly<{
      kind: "jwt";
      issuer: string;
      audience: readonly string[];
      /** The scope of a verb, where it is not `fermata/<verb>`. */
      scopes?: Partial<Record<Verb, string>>;
    }>
  /** Not at all: everybody who reaches the address may do everything. For one's own machine only. */
  | Readonly<{ kind: "none" }>;

/** Which web pages may call. */
export type Cors = Readonly<{
  /** Such as `https://console.example.com`. */
  origins: readonly string[];
  /** How long a browser need not ask again; an hour unless said. */
  maxAge?: Duration;
}>;

/** How many calls are let in; more are answered with 429. */
export type Throttle = Readonly<{ perSecond: number; burst: number }>;
