/** Calls to external services. The adapter checks at every hop which hosts they may reach. */
export interface Http {
  /** Makes one call, its redirects included. Never throws: a failure is an outcome. */
  send(request: HttpRequest): Promise<HttpOutcome>;
}

export type HttpRequest = Readonly<{
  method: string;
  url: URL;
  /** By their names in lower case. */
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Contains secrets: it is not redirected to another origin. */
  isConfidential: boolean;
  timeoutMs: number;
  /** Aborts the call. */
  signal: AbortSignal;
}>;

export type HttpOutcome = Readonly<
  | { kind: "answered"; answer: HttpAnswer }
  /** The call is not allowed; nothing was sent to the host that the problem names. */
  | { kind: "refused"; problem: string }
  /** No complete response arrived; the service may have carried out the request. */
  | { kind: "failed"; problem: string }
>;

export type HttpAnswer = Readonly<{
  status: number;
  /** The reason phrase of the status; may be empty. */
  reason: string;
  /** By their names in lower case; without cookies and connection headers. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}>;
