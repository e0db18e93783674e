/**
 * What every stored body has. A body without it was damaged: it is refused where it is parsed, so
 * that no step decides with half of it.
 */
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
