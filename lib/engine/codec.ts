/**
 * How an instance is written down. Most steps rewrite all of it, so it is packed: elements and
 * trail types by position, times as distances, tickets as rows. `FORMAT` counts up when an older
 * engine could not read what this one writes.
 */
import type { Definition } from "../definition/definition.ts";
import type { Json } from "../definition/json.ts";
import { type Instant, instantFrom } from "../definition/time/instant.ts";
import type { Instance, OutboxRecord, Remembered, Stamp, Ticket } from "../kernel/instance.ts";
import { TRAIL_TYPES, type TrailEntry } from "../kernel/trail.ts";

export const FORMAT = 2;

/** What can be read before the definition is known. */
export type Stored = Readonly<{
  format: number;
  definition: Instance["definition"];
  packed: Packed;
}>;

/** The bytes of an instance, without its version: that is the item's. */
export function encodeInstance(instance: Instance, definition: Definition): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(pack(instance, indexOf(definition))));
}

export function parseStored(body: Uint8Array): Stored {
  const packed = JSON.parse(new TextDecoder().decode(body)) as Packed;
  const [id, version, hash] = packed.d;
  return { format: packed.f, definition: { id, version, hash }, packed };
}

export function decodeInstance(
  stored: Stored,
  definition: Definition,
  about: Readonly<{ id: string; tenant: string; version: number }>,
): Instance {
  return unpack(stored, definition, about);
}

/** A piece of history that has left the instance. */
export function encodeChunk(entries: readonly TrailEntry[], definition: Definition): Uint8Array {
  const first = entries[0];
  const at = first?.at ?? instantFrom(0);
  const packed: PackedChunk = {
    q: first?.seq ?? 0,
    a: at,
    t: packTrail(entries, at, indexOf(definition)),
  };
  return new TextEncoder().encode(JSON.stringify(packed));
}

export function parseChunk(body: Uint8Array, definition: Definition): readonly TrailEntry[] {
  const packed = JSON.parse(new TextDecoder().decode(body)) as PackedChunk;
  return unpackTrail(packed.t, packed.q, instantFrom(packed.a), definition);
}

/** How many bytes these entries take inside an instance. */
export function trailBytes(entries: readonly TrailEntry[], definition: Definition): number {
  const at = entries[0]?.at ?? instantFrom(0);
  return JSON.stringify(packTrail(entries, at, indexOf(definition))).length;
}

type Packed = Readonly<{
  f: number;
  d: readonly [id: string, version: number, hash: string];
  s: number;
  tk?: Instance["terminationKind"];
  a: number;
  n: number;
  e?: number;
  bk?: string;
  tg?: readonly string[];
  x: Json;
  k: readonly PackedTicket[];
  o?: readonly (readonly [string, OutboxRecord["effect"], PackedStamp])[];
  c: readonly Reference[];
  q: number;
  t: readonly PackedEntry[];
  r?: Json;
  er?: NonNullable<Instance["error"]>;
  ib?: Instance["inbox"];
  is?: Instance["sentEvents"];
  ie?: Instance["seenEvents"];
  h: readonly [exact: string, request: string];
  g?: readonly (readonly [string, string, number, number])[];
}>;
type PackedChunk = Readonly<{ q: number; a: number; t: readonly PackedEntry[] }>;
/** Position in the definition's elements, or the id itself when it is not among them. */
type Reference = number | string;
type PackedEntry = readonly [type: number, element: Reference, later: number, data?: Json];
type PackedStamp = readonly [by: string, own: string | 0, until: number] | 0;
type PackedTicket = readonly [
  id: string,
  ref: number,
  element: Reference,
  since: number,
  stamp: PackedStamp,
  rest: Readonly<Record<string, unknown>> | readonly unknown[],
];

const STATUSES = ["live", "succeeded", "failed", "cancelled"] as const;
const NO_ELEMENT = -1;

type Index = ReadonlyMap<string, number>;
const indexes = new WeakMap<Definition, Index>();

function indexOf(definition: Definition): Index {
  let index = indexes.get(definition);
  if (index === undefined) {
    index = new Map(definition.elements.map((element, position) => [element, position]));
    indexes.set(definition, index);
  }
  return index;
}

function pack(instance: Instance, index: Index): Packed {
  const { startedAt } = instance;
  const entries = instance.trail.entries;
  return {
    f: FORMAT,
    d: [instance.definition.id, instance.definition.version, instance.definition.hash],
    s: STATUSES.indexOf(instance.status),
    ...(instance.terminationKind && { tk: instance.terminationKind }),
    a: startedAt,
    n: instance.lastNow - startedAt,
    ...(instance.endedAt !== undefined && { e: instance.endedAt - startedAt }),
    ...(instance.businessKey !== undefined && { bk: instance.businessKey }),
    ...(instance.tags && { tg: instance.tags }),
    x: instance.state,
    k: instance.tickets.map((ticket) => packTicket(ticket, startedAt, index)),
    ...(instance.outbox.length > 0 && {
      o: instance.outbox.map(({ id, effect, stamp }) => [id, effect, packStamp(stamp)] as const),
    }),
    c: instance.completed.map((element) => index.get(element) ?? element),
    q: instance.trail.next,
    t: packTrail(entries, startedAt, index),
    ...(instance.result !== undefined && { r: instance.result }),
    ...(instance.error && { er: instance.error }),
    h: [instance.startHash.exact, instance.startHash.request],
    ...(instance.inbox.length > 0 && { ib: instance.inbox }),
    ...(instance.sentEvents.length > 0 && { is: instance.sentEvents }),
    ...(Object.keys(instance.seenEvents).length > 0 && { ie: instance.seenEvents }),
    ...(instance.ring.length > 0 && {
      g: instance.ring.map(({ request, body, answer, v }) => [request, body, answer, v] as const),
    }),
  };
}

function unpack(
  { packed, definition: ref }: Stored,
  definition: Definition,
  about: Readonly<{ id: string; tenant: string; version: number }>,
): Instance {
  const startedAt = instantFrom(packed.a);
  const after = (ms: number): Instant => instantFrom(startedAt + ms);
  const status = STATUSES[packed.s] ?? "live";
  return {
    ...about,
    definition: ref,
    status,
    ...(packed.tk && { terminationKind: packed.tk }),
    startedAt,
    lastNow: after(packed.n),
    ...(packed.e !== undefined && { endedAt: after(packed.e) }),
    ...(packed.bk !== undefined && { businessKey: packed.bk }),
    ...(packed.tg && { tags: packed.tg }),
    state: packed.x,
    tickets: packed.k.map((ticket) => parseTicket(ticket, startedAt, definition)),
    outbox: (packed.o ?? []).map(([id, effect, stamp]) => ({ id, effect, ...stampOf(stamp) })),
    minted: 0,
    completed: packed.c.map((element) => elementOf(element, definition)),
    trail: {
      next: packed.q,
      entries: unpackTrail(packed.t, packed.q - packed.t.length, startedAt, definition),
    },
    ...(packed.r !== undefined && { result: packed.r }),
    ...(packed.er && { error: packed.er }),
    startHash: { exact: packed.h[0], request: packed.h[1] },
    inbox: packed.ib ?? [],
    sentEvents: packed.is ?? [],
    seenEvents: packed.ie ?? {},
    ring: (packed.g ?? []).map(
      ([request, body, answer, v]): Remembered => ({ request, body, answer, v }),
    ),
  };
}

/** What every ticket has goes by position; the rest of it, by name: it differs per kind. */
function packTicket(ticket: Ticket, startedAt: Instant, index: Index): PackedTicket {
  const { id, ref, element, since, stamp, on, ...rest } = ticket;
  const common = [
    id,
    ref,
    index.get(element) ?? element,
    since - startedAt,
    packStamp(stamp),
  ] as const;
  if (ticket.on === "task" && ticket.claim === undefined) {
    const { type, attempt, retries, notBefore } = ticket;
    return [
      ...common,
      notBefore === undefined ? [type, attempt, retries] : [type, attempt, retries, notBefore],
    ];
  }
  return [...common, { on, ...rest }];
}

function parseTicket(packed: PackedTicket, startedAt: Instant, definition: Definition): Ticket {
  const [id, ref, element, since, stamp, rest] = packed;
  const common = {
    id,
    ref,
    element: elementOf(element, definition),
    since: instantFrom(startedAt + since),
    ...stampOf(stamp),
  };
  if (Array.isArray(rest)) {
    const [type, attempt, retries, notBefore] = rest;
    return { ...common, on: "task", type, attempt, retries, ...(notBefore && { notBefore }) };
  }
  return { ...common, ...rest } as Ticket;
}

function packStamp(stamp: Stamp | undefined): PackedStamp {
  return stamp === undefined ? 0 : [stamp.by, stamp.own ?? 0, stamp.until];
}

function stampOf(packed: PackedStamp): { stamp?: Stamp } {
  if (packed === 0) return {};
  const [by, own, until] = packed;
  return { stamp: { by, own: own === 0 ? null : own, until: instantFrom(until) } };
}

function packTrail(
  entries: readonly TrailEntry[],
  startedAt: Instant,
  index: Index,
): readonly PackedEntry[] {
  let last = startedAt;
  return entries.map(({ at, type, element, data }): PackedEntry => {
    const later = at - last;
    last = at;
    const reference = element === undefined ? NO_ELEMENT : (index.get(element) ?? element);
    const position = TRAIL_TYPES.indexOf(type);
    return data === undefined ? [position, reference, later] : [position, reference, later, data];
  });
}

function unpackTrail(
  packed: readonly PackedEntry[],
  first: number,
  startedAt: Instant,
  definition: Definition,
): readonly TrailEntry[] {
  let at = startedAt;
  return packed.map(([type, element, later, data], position) => {
    at = instantFrom(at + later);
    return {
      seq: first + position,
      at,
      type: TRAIL_TYPES[type] ?? "continued",
      ...(element !== NO_ELEMENT && { element: elementOf(element, definition) }),
      ...(data !== undefined && { data }),
    };
  });
}

function elementOf(reference: Reference, definition: Definition): string {
  if (typeof reference === "string") return reference;
  return definition.elements[reference] ?? `#${reference}`;
}
