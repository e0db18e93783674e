/** Calls to services outside. Whom they may reach is the adapter's to check, at every hop. */
export interface Http {
  /** Makes one call, its redirects included. Never throws: what goes wrong is an outcome. */
  send(request: HttpRequest): Promise<HttpOutcome>;
}

export type HttpRequest = Readonly<{
  method: string;
  url: URL;
  /** By their names in small letters. */
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Secrets are in it: it is not sent on to another origin. */
  isConfidential: boolean;
  timeoutMs: number;
  /** Nobody wants the answer any more. */
  signal: AbortSignal;
}>;

export type HttpOutcome = Readonly<
  | { kind: "answered"; answer: HttpAnswer }
  /** The call is not allowed here; the host that the problem names was sent nothing. */
  | { kind: "refused"; problem: string }
  /** No whole answer came; the service may have done what it was asked. */
  | { kind: "failed"; problem: string }
>;

export type HttpAnswer = Readonly<{
  status: number;
  /** What the service calls the status; may be empty. */
  reason: string;
  /** By their names in small letters; without cookies, and without those of the connection. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}>;
