// What may arrive in a queue: the engine's messages as text. Other programs can send there too, and
// other versions of the engine do during a deployment, so everything is validated:
//
// 1. A newer format is never dropped: a version that reads it is being deployed.
// 2. A property that this version does not know is refused, not ignored: it may matter. A change
//    that adds one increments MESSAGE_FORMAT, and still reads messages without it: earlier formats
//    are in the queues, and in their dead letters for weeks.
// 3. The trace of a message is carried beside it and changes nothing: an invalid one is no failure.
// 4. The bus delivers whole events, whose detail is as trustworthy as those who may put events
//    there. An event is a broadcast or the request for a signal, and never another message.

import type * as z from "zod/mini";
import type { Json, Variables } from "../../definition/json.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Message } from "../../ports/message.ts";
import { checkMessage } from "../../ports/message-kinds.ts";
import { MESSAGE_FORMAT } from "../../ports/message-text.ts";
import { problemsOf } from "../../ports/schema.ts";
import { bodyReference, busEvent } from "./message-shapes.ts";

/** Stands for a body that is too large for the queue: it is in Blobs under this name. */
export type BodyReference = Readonly<{ kind: "reference"; ref: string }>;

/** A request for a signal that another system put on the bus; the id of the event identifies it. */
export type SignalRequest = Readonly<{
  kind: "signal-requested";
  id: string;
  name: string;
  payload?: Variables;
}>;

/** The text of a body that is stored as a blob. */
export function referenceText(ref: string): string {
  return JSON.stringify({ v: MESSAGE_FORMAT, ref });
}

/**
 * Parses a message body in any format up to `newest`; throws `message/unreadable` or
 * `message/format-too-new`.
 */
export function parseText(
  text: string,
  newest = MESSAGE_FORMAT,
): Message | BodyReference | SignalRequest {
  const value = parseObject(text);
  if (!("detail-type" in value)) return parseMessage(value, text, newest);
  const event = checked(busEvent, value, text);
  if (event["detail-type"] === "signal-requested") {
    return { kind: "signal-requested", id: event.id, ...event.detail };
  }
  const accepted = parseMessage(event.detail, text, newest);
  if (accepted.kind === "broadcast") return accepted;
  throw unreadable(text, `the bus may not bring ${accepted.kind}`);
}

function parseMessage(value: Properties, text: string, newest: number): Message | BodyReference {
  const { v, traceparent: _, ...rest } = value;
  if (!isFormat(v)) throw unreadable(text, `its format is ${JSON.stringify(v) ?? "absent"}`);
  if (v > newest) throw tooNew(v, newest);
  if ("ref" in rest) return { kind: "reference", ...checked(bodyReference, rest, text) };
  const found = checkMessage(rest);
  if ("message" in found) return found.message;
  throw unreadable(text, found.problems.join("; "));
}

type Properties = Readonly<Record<string, Json>>;

/** The trace of a message; undefined where its text has none or cannot be read. */
export function traceparentIn(text: string): string | undefined {
  try {
    const value = parseObject(text);
    const { traceparent } = isObject(value.detail) ? value.detail : value;
    return typeof traceparent === "string" ? traceparent : undefined;
  } catch {
    return undefined;
  }
}

/** The refusal of an unreadable message; it ends in the dead-letter queue. */
export function unreadable(text: string, why: string, cause?: unknown): EngineError {
  return new EngineError("message/unreadable", {
    happened: `A queued message cannot be read: ${why}`,
    where: `message ${text.slice(0, SHOWN)}${text.length > SHOWN ? "…" : ""}`,
    fix: "Find out who sent it; the engine's own come through the queues that it was deployed with.",
    cause,
  });
}

/** Enough to recognise a message by; payloads come behind. */
const SHOWN = 120;

function parseObject(text: string): Properties {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unreadable(text, "it is not JSON", cause);
  }
  if (isObject(value)) return value;
  throw unreadable(text, "it is not an object");
}

function isObject(value: Json | undefined): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checked<S extends z.ZodMiniType>(shape: S, value: unknown, text: string): z.output<S> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unreadable(text, problemsOf(parsed.error).join("; "));
}

function isFormat(v: Json | undefined): v is number {
  return typeof v === "number" && Number.isInteger(v) && v >= 1;
}

function tooNew(format: number, newest: number): EngineError {
  return new EngineError("message/format-too-new", {
    happened: "A queued message was written by a newer engine",
    where: `format ${format}, this engine knows ${newest}`,
    fix: "It goes back to its queue. Finish the deployment of the newer engine.",
  });
}
