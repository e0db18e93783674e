import { CODES, type ErrorCode } from "./error-codes.ts";

export { type ErrorCode, errorCodes } from "./error-codes.ts";

/** What the reader of an error needs: where it happened, and the rest where its code does not say it. */
export type Explanation = Texts & About;

type Texts = Readonly<{ happened: string; fix: string }>;

/** Codes that say by themselves what happened and what to do about it. */
type TellingCode = {
  [Code in ErrorCode]: (typeof CODES)[Code] extends Texts ? Code : never;
}[ErrorCode];

type About = Readonly<{
  where: string;
  /** Where this differs from what the code says. */
  retryable?: boolean;
  /** The store as a whole is unusable, not a single item: the engine stops. */
  stopsEngine?: boolean;
  cause?: unknown;
  /** Everything that is wrong, one entry each, where several things are. */
  details?: readonly Readonly<Record<string, unknown>>[];
}>;

/** An unexpected failure; expected outcomes are values, an author's mistakes are diagnostics. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  /** The store as a whole is unusable, not a single item: the engine has stopped. */
  readonly stopsEngine: boolean;
  /** Without `where`, which may name things that a caller must not see. */
  readonly publicText: string;
  readonly details: readonly Readonly<Record<string, unknown>>[];

  constructor(code: TellingCode, about: About & Partial<Texts>);
  constructor(code: ErrorCode, about: Explanation);
  constructor(code: ErrorCode, about: About & Partial<Texts>) {
    const told = { happened: "", fix: "", retryable: false, ...CODES[code], ...about };
    const { happened, where, fix, retryable, stopsEngine, cause, details } = told;
    super(`${happened} (${where}). ${fix} [${code}]`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
    this.stopsEngine = stopsEngine ?? false;
    this.publicText = `${happened}. ${fix}`;
    this.details = details ?? [];
  }
}
