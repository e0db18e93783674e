import * as z from "zod";
import type { Engine } from "../engine/engine.ts";
import type { ErrorCode } from "../ports/engine-error.ts";
import type { BodySpec } from "./body.ts";
import { check, checkEach } from "./check.ts";
import { type ApiRequest, type ApiResponse, JSON_TYPE } from "./http.ts";
import type { Failure } from "./problem.ts";

/** What a call may use. */
export type Host = Readonly<{
  engine: Engine;
  extras: ApiExtras;
  settings: ApiSettings;
  /** The OpenAPI document, as JSON text. */
  document: () => string;
}>;

/** What only some hosts offer. */
export type ApiExtras = Readonly<{
  /** Present with a virtual clock. */
  clock?: Readonly<{ advance(by: string): Promise<ClockAdvance> }>;
  /** Throws the reason when the engine has stopped; must not read the store. */
  checkRunning?: () => void;
  /** Resolves when the instance has ended, also if it had ended before, or when time is up. */
  waitForEnd?: (instanceId: string, ms: number) => Promise<void>;
  /** Logs a response of 500 or more, and returns the id of the log entry. */
  reportFailure?: (failure: FailedRequest) => string;
}>;

/** What is logged about a failed request: its route, never its ids. */
export type FailedRequest = Failure & Readonly<{ requestId?: string; route: string }>;

/** The time of the virtual clock, and the work that was still running. */
export type ClockAdvance = Readonly<{ now: string; fired: number; left: readonly string[] }>;

/** The settings of the API of one installation. */
export type ApiSettings = Readonly<{
  /** The version of the engine, for health and the document. */
  version: string;
  /** Absent: no call needs a token. Present: every call must carry it, except the open ones. */
  token?: string;
  /** Workflows in code may be deployed; they are refused by default. */
  acceptsCode?: boolean;
}>;

/** One call of the API: everything that routing, validation and the document need. */
export type Operation = Readonly<{
  /** Its name in the document, and in the client. */
  id: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Such as `/v1/instances/{instanceId}`; the names are those of `params`. */
  path: string;
  tag: "Definitions" | "Instances" | "Signals" | "Messages" | "Events" | "Tasks" | "Service";
  summary: string;
  description?: string;
  /** Answered without a token. */
  isOpen?: true;
  /** Takes an Idempotency-Key. */
  takesKey?: true;
  params: z.ZodObject;
  query: z.ZodObject;
  body: BodySpec<unknown>;
  /** What each good status means. */
  answers: Readonly<Record<number, string>>;
  /** Of every good answer. */
  answer: z.ZodType;
  /** Media types of good answers, unless JSON; none: they have no body. */
  answerTypes?: readonly string[];
  /** Response headers of good answers, by what they mean. */
  answerHeaders?: Readonly<Record<string, string>>;
  /** Errors in addition to those of every call. */
  problems: readonly ErrorCode[];
  call(received: Received, host: Host): Promise<ApiResponse>;
}>;

/** A routed request; nothing in it is validated yet. */
export type Received = Readonly<{
  request: ApiRequest;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
}>;

type Checked<P extends z.ZodType, Q extends z.ZodType, B> = Readonly<{
  params: z.output<P>;
  query: z.output<Q>;
  body: B;
  /** The Idempotency-Key, where one was sent. */
  key?: string;
}>;

type Reply<T> = Readonly<{ status: number; headers?: Readonly<Record<string, string>> }> &
  Readonly<{ json: T } | { raw: string | Uint8Array; type: string } | { empty: true }>;

type Spec<P extends z.ZodObject, Q extends z.ZodObject, B, A extends z.ZodType> = Readonly<{
  params: P;
  query: Q;
  body: BodySpec<B>;
  answer: A;
  run(checked: Checked<P, Q, B>, host: Host): Promise<Reply<ReadonlyDeep<z.output<A>>>>;
}> &
  Omit<Operation, "params" | "query" | "body" | "answer" | "call">;

/** An operation that validates requests before it runs. */
export function operation<P extends z.ZodObject, Q extends z.ZodObject, B, A extends z.ZodType>(
  spec: Spec<P, Q, B, A>,
): Operation {
  const { run, ...described } = spec;
  return {
    ...described,
    call: async (received, host) => {
      const { headers } = received.request;
      const given = spec.takesKey === true ? headers["idempotency-key"] : undefined;
      const params = () => check(spec.params, received.params, "path");
      const query = () => check(spec.query, received.query, "query");
      const key = () =>
        given !== undefined && { key: check(idempotencyKey, given, "header", KEY_HEADER) };
      const body = () => spec.body.read(received.request);
      const checked = checkEach([params, query, key, body], () => ({
        ...{ params: params(), query: query(), body: body() },
        ...key(),
      }));
      return respond(await run(checked, host));
    },
  };
}

/** The header that makes a write idempotent. */
export const KEY_HEADER = "Idempotency-Key";

/** Visible ASCII, so that it survives every proxy and every log. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, { error: "must be 1 to 255 visible ASCII characters" });

/** The parameters of a call that has none. */
export const nothing = z.strictObject({});

function respond(reply: Reply<unknown>): ApiResponse {
  if ("empty" in reply) return { status: reply.status, headers: reply.headers ?? {}, body: "" };
  const [body, type] =
    "raw" in reply ? [reply.raw, reply.type] : [JSON.stringify(reply.json), JSON_TYPE];
  return { status: reply.status, headers: { "content-type": type, ...reply.headers }, body };
}

type ReadonlyDeep<T> = T extends readonly (infer E)[]
  ? readonly ReadonlyDeep<E>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T;
