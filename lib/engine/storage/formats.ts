/**
 * Every kind of stored body and the format that this engine writes. A body says its format as `f`;
 * without one it has format 1, which every kind began with.
 *
 * 1. A format counts up when an older engine could not read, or would misread, what this one writes.
 * 2. The engine reads the format that it writes and the two before it; of what is never written anew,
 *    every format.
 * 3. What is older still is refused: it would be misread.
 * 4. What is newer is refused and left as it is: its message comes back, and a newer engine takes it.
 */
import { EngineError } from "../../ports/engine-error.ts";
import { corrupt, sound } from "./unreadable.ts";

export const FORMATS = {
  instance: 5,
  chunk: 3,
  value: 1,
  definition: 3,
  latest: 1,
  "definition-version": 1,
  head: 1,
  place: 1,
  row: 1,
  broadcast: 1,
  page: 1,
  road: 1,
  turn: 1,
  mailbox: 1,
  "message-start": 1,
  "kept-event": 1,
  "event-id": 1,
  "dead-letter": 1,
  offer: 1,
  "timer-start": 1,
  "task-type": 1,
  "member-claim": 1,
} as const;

export type Kind = keyof typeof FORMATS;

/** How many formats before today's are read. */
const FORMATS_BACK = 2;

/** Written once, and read for as long as anything refers to it. */
const LASTING: ReadonlySet<Kind> = new Set<Kind>(["chunk", "value", "definition"]);

/** The oldest format of a kind that is read. */
export const oldestRead = (kind: Kind): number =>
  LASTING.has(kind) ? 1 : Math.max(1, FORMATS[kind] - FORMATS_BACK);

/** The bytes of a body, marked with its format where that is not the first. */
export function encodeBody(kind: Kind, value: object): Uint8Array {
  return new TextEncoder().encode(bodyText(kind, value));
}

/** The same as text, for a body that is stored in parts. */
export function bodyText(kind: Kind, value: object): string {
  const format = FORMATS[kind];
  return JSON.stringify(format === 1 ? value : { ...value, f: format });
}

/** What the bytes say; throws when a newer engine wrote them, and when they were damaged. */
export function parseBody(kind: Kind, body: Uint8Array): unknown {
  const text = sound(`a stored ${kind}`, () => strict.decode(body));
  return parseText(kind, text);
}

/** Reads bodies of one kind, which has this type in memory. */
export const parserOf =
  <T>(kind: Kind) =>
  (body: Uint8Array): T =>
    parseBody(kind, body) as T;

/** What is no text is not made one: its reader would take it for what was written. */
const strict = new TextDecoder("utf-8", { fatal: true });

/** The same for a body that is stored in parts. */
export function parseText(kind: Kind, text: string): unknown {
  const value: unknown = sound(`a stored ${kind}`, () => JSON.parse(text));
  const format = formatOf(value);
  if (format > FORMATS[kind]) throw tooNew(kind, format);
  if (format < oldestRead(kind)) throw tooOld(kind, format);
  if (!hasShapeOf(kind, value)) throw corrupt(`a stored ${kind}`);
  return value;
}

/** The format that a parsed body says it has. */
export function formatOf(value: unknown): number {
  const says = typeof value === "object" && value !== null && "f" in value ? value.f : undefined;
  return typeof says === "number" ? says : 1;
}

const tooNew = (kind: Kind, format: number): EngineError =>
  new EngineError(kind === "instance" ? "instance/format-too-new" : "store/item-too-new", {
    happened: `Its format is ${format}, and this engine reads up to ${FORMATS[kind]}`,
    where: `a stored ${kind}`,
  });

/** What only a newer engine can have written into a body of a format that this one reads. */
export const unknownInside = (what: string): EngineError =>
  new EngineError("store/item-too-new", { where: what });

const tooOld = (kind: Kind, format: number): EngineError =>
  new EngineError("store/item-too-old", {
    happened: `Its format is ${format}, and this engine reads ${oldestRead(kind)} to ${FORMATS[kind]}`,
    where: `a stored ${kind}`,
    fix: "Run the version of the engine between the two until it has been written anew; nothing was changed.",
  });

/** A body without what every one of its kind has was damaged: no step decides with half of it. */
type Type = "string" | "number" | "boolean" | "array" | "object";
type Shape = Readonly<Record<string, Type>>;

/** The fields that no body of a kind is without; of several shapes it has one. */
const SHAPES = {
  instance: [{ d: "array", a: "number", n: "number", k: "array", q: "number", h: "string" }],
  chunk: [{ q: "number", a: "number" }],
  value: [{ v: "string" }, { v: "object" }, { v: "array" }, { blob: "boolean" }],
  definition: [{ id: "string", body: "object", elements: "array", startEvents: "array" }],
  latest: [{ id: "string", version: "number", hash: "string", state: "string" }],
  "definition-version": [{ hash: "string", sourceHash: "string", deployedAt: "number" }],
  head: [{ seq: "number", epochs: "number" }],
  place: [{ id: "string" }],
  row: [
    { i: "string", w: "string", s: "number", a: "number" },
    { d: "string", e: "string", s: "number", a: "number" },
  ],
  broadcast: [{ id: "string", topic: "object", seq: "number", at: "number", body: "string" }],
  page: [{ page: "string", awaits: "array", matched: "number", failed: "array" }],
  road: [
    { round: "number", shards: "number" },
    { round: "number", shards: "string" },
  ],
  turn: [{ firsts: "array" }],
  mailbox: [{ address: "object", subs: "array", bufs: "array", ids: "array" }],
  "message-start": [{ definitionId: "string" }],
  "kept-event": [{ name: "string", id: "string", seq: "number", at: "number", mode: "string" }],
  "event-id": [{ seq: "number", at: "number", body: "string" }],
  "dead-letter": [{ id: "string", name: "string", target: "string", at: "number" }],
  offer: [{ i: "string", k: "string" }],
  "timer-start": [{ definitionId: "string", hash: "string", element: "string", run: "number" }],
  "task-type": [{ shards: "number" }],
  "member-claim": [{ own: "string", until: "number" }],
} satisfies Readonly<Record<string, readonly Shape[]>>;

/** Says whether a parsed body has what every body of its kind has. */
export function hasShapeOf(kind: keyof typeof SHAPES, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const shapes: readonly Shape[] = SHAPES[kind];
  return shapes.some((shape) => {
    for (const name in shape) if (typeOf(Reflect.get(value, name)) !== shape[name]) return false;
    return true;
  });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}
