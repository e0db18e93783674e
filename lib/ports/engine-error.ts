/** Every code an EngineError may carry; each is a promise with a heading in docs/reference/errors.md. */
export const errorCodes = [
  "store/call-refused",
  "store/closed",
  "store/commit-failed",
  "store/corrupt",
  "store/cursor-invalid",
  "store/disk-full",
  "store/folder-in-use",
  "store/folder-unusable",
  "store/format-too-new",
  "store/read-failed",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** What the reader of an error needs: what happened, where, and what to do about it. */
export type Explanation = Readonly<{
  happened: string;
  where: string;
  fix: string;
  retryable: boolean;
  cause?: unknown;
}>;

/** What nobody planned for; expected outcomes are values, an author's mistakes are diagnostics. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, { happened, where, fix, retryable, cause }: Explanation) {
    super(`${happened} (${where}). ${fix} [${code}]`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
  }
}
