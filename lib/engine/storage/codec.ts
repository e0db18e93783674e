/** Instances as stored: elements by place, times as distances, tickets as rows, history as text. */
import type { Definition } from "../../definition/definition.ts";
import type { Json } from "../../definition/json.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Instance, Lease, OutboxRecord, Ticket } from "../../kernel/instance.ts";
import type { TrailEntry } from "../../kernel/trail.ts";
import {
  elementOf,
  type Index,
  indexOf,
  type Reference,
  readReferences,
  referenceTo,
  writeReferences,
} from "./elements.ts";
import { encodeBody, formatOf, parseBody } from "./formats.ts";
import { packOwner, parseOwner } from "./names.ts";
import { type Journal, type PackedJournal, readJournal, writeJournal } from "./packed-journal.ts";
import {
  type ChunkBefore,
  countEntries,
  readTrail,
  readTrailBefore,
  type TrailText,
  writeTrail,
} from "./trail-text.ts";
import { sound } from "./unreadable.ts";

/** What can be read before the definition and the externalized values are there. */
export type Stored = Readonly<{ definition: Instance["definition"]; packed: Packed }>;

/** An instance, without its version: that is the item's. */
export type Packed = Readonly<{
  d: readonly [id: string, version: number, hash: string];
  s?: number;
  tk?: Instance["terminationKind"];
  a: number;
  /** The start of its run, where that is not the first. */
  ra?: number;
  n: number;
  e?: number;
  bk?: string;
  tg?: readonly string[];
  p?: NonNullable<Instance["parent"]>;
  ls?: number;
  x: Json;
  k: readonly PackedTicket[];
  o?: readonly (readonly [string, OutboxRecord["effect"], PackedLease])[];
  c: string | readonly Reference[];
  q: number;
  j?: PackedJournal;
  r?: Json;
  er?: NonNullable<Instance["error"]>;
  ib?: Instance["inbox"];
  is?: Instance["sentEvents"];
  ie?: Instance["seenEvents"];
  h: string;
  g?: readonly (readonly [string, string, number, number])[];
  /** Externalized values: where each belongs. Empty: there were some once. */
  v?: readonly PackedApart[];
  /** Erased; 2 while something of it may be left. */
  z?: 1 | 2;
}> &
  TrailText;

export type PackedApart = readonly [at: Path, hash: string, bytes: number];

/** Where something stands in a packed instance. */
export type Path = readonly (string | number)[];

/** `until` is counted from the instance's own time. */
type PackedLease = readonly [trigger: string, owner: string | 0, until: number] | 0;
type PackedTicket = readonly [
  id: string,
  ref: number,
  element: Reference,
  since: number,
  lease: PackedLease,
  rest: Readonly<Record<string, unknown>> | readonly unknown[],
];

export function packInstance(instance: Instance, definition: Definition): Packed {
  const { startedAt, lastNow, result } = instance;
  const index = indexOf(definition);
  return {
    d: [instance.definition.id, instance.definition.version, instance.definition.hash],
    ...(instance.status !== "live" && { s: STATUSES.indexOf(instance.status) }),
    ...(instance.terminationKind && { tk: instance.terminationKind }),
    a: startedAt,
    ...(instance.runAt !== undefined && { ra: instance.runAt - startedAt }),
    n: lastNow - startedAt,
    ...(instance.endedAt !== undefined && { e: instance.endedAt - startedAt }),
    ...(instance.businessKey !== undefined && { bk: instance.businessKey }),
    ...(instance.tags && { tg: instance.tags }),
    ...(instance.parent && { p: instance.parent }),
    ...(instance.shard !== undefined && { ls: instance.shard }),
    x: instance.state,
    k: instance.tickets.map((ticket) => packTicket(ticket, instance, index)),
    ...(instance.outbox.length > 0 && {
      o: instance.outbox.map((it) => [it.id, it.effect, packLease(it.lease, lastNow)] as const),
    }),
    c: writeReferences(instance.completed.map((element) => referenceTo(element, index))),
    q: instance.trail.next,
    ...writeTrail(instance.trail.entries, startedAt, index),
    ...(instance.journal && { j: writeJournal(instance.journal, startedAt) }),
    ...(result !== undefined && { r: result }),
    ...(instance.error && { er: instance.error }),
    h: instance.startHash,
    ...(instance.erased && { z: instance.erased === true ? (1 as const) : (2 as const) }),
    ...(instance.inbox.length > 0 && { ib: instance.inbox }),
    ...(instance.sentEvents.length > 0 && { is: instance.sentEvents }),
    ...(Object.keys(instance.seenEvents).length > 0 && { ie: instance.seenEvents }),
    ...(instance.ring.length > 0 && {
      g: instance.ring.map(({ request, body, answer, v }) => [request, body, answer, v] as const),
    }),
  };
}

export const encodePacked = (packed: Packed): Uint8Array => encodeBody("instance", packed);

export function parseStored(body: Uint8Array): Stored {
  const packed = parseBody("instance", body) as Packed;
  const [id, version, hash] = packed.d;
  return { definition: { id, version, hash }, packed };
}

export function decodeInstance(
  { packed, definition: ref }: Stored,
  definition: Definition,
  about: Readonly<{ id: string; tenant: string; version: number }>,
): Instance {
  const startedAt = instantFrom(packed.a);
  const after = (ms: number): Instant => instantFrom(startedAt + ms);
  const first = packed.q - countEntries(packed);
  return {
    ...about,
    definition: ref,
    status: STATUSES[packed.s ?? 0] ?? "live",
    ...(packed.z && { erased: packed.z === 1 ? (true as const) : ("unfinished" as const) }),
    ...(packed.tk && { terminationKind: packed.tk }),
    startedAt,
    ...(packed.ra !== undefined && { runAt: after(packed.ra) }),
    lastNow: after(packed.n),
    ...(packed.e !== undefined && { endedAt: after(packed.e) }),
    ...(packed.bk !== undefined && { businessKey: packed.bk }),
    ...(packed.tg && { tags: packed.tg }),
    ...(packed.p && { parent: packed.p }),
    ...(packed.ls !== undefined && { shard: packed.ls }),
    state: packed.x,
    tickets: packed.k.map((ticket) => parseTicket(ticket, packed, definition)),
    outbox: (packed.o ?? []).map(([id, effect, it]) => ({ id, effect, ...parseLease(it, packed) })),
    minted: 0,
    completed: readReferences(packed.c).map((element) => elementOf(element, definition)),
    trail: { next: packed.q, entries: readTrail(packed, { first, from: startedAt, definition }) },
    ...(packed.j && { journal: readJournal(packed.j, startedAt) }),
    ...(packed.r !== undefined && { result: packed.r }),
    ...(packed.er && { error: packed.er }),
    startHash: packed.h,
    inbox: packed.ib ?? [],
    sentEvents: packed.is ?? [],
    seenEvents: packed.ie ?? {},
    ring: (packed.g ?? []).map(([request, body, answer, v]) => ({ request, body, answer, v })),
    ...(packed.v && { apart: packed.v.map(([, hash, bytes]) => ({ hash, bytes })) }),
  };
}

/** A piece of history that has left the instance, and of the journal what left with it. */
export function encodeChunk(
  entries: readonly TrailEntry[],
  definition: Definition,
  journal?: Journal,
): Uint8Array {
  const [first] = entries;
  const at = first?.at ?? instantFrom(0);
  const trail = writeTrail(entries, at, indexOf(definition));
  const beside = journal && { j: writeJournal(journal, at) };
  const packed: PackedChunk = { q: first?.seq ?? 0, a: at, ...trail, ...beside };
  return encodeBody("chunk", packed);
}

/** Reads its history; a chunk that begins before the run is of an earlier one, or of another life. */
export function parseChunk(
  body: Uint8Array,
  definition: Definition,
  runAt: Instant,
): readonly TrailEntry[] {
  const packed = parseBody("chunk", body) as PackedChunk | ChunkBefore;
  if (packed.a < runAt) return [];
  const about = { first: packed.q, from: instantFrom(packed.a), definition };
  return sound("a stored chunk", () =>
    isBefore(packed) ? readTrailBefore(packed.t, about) : readTrail(packed, about),
  );
}

/** Reads what there is of the journal in a chunk of this run. */
export function parseChunkJournal(body: Uint8Array, runAt: Instant): Journal | undefined {
  const { a, j } = parseBody("chunk", body) as PackedChunk;
  return a < runAt || j === undefined ? undefined : readJournal(j, instantFrom(a));
}

type PackedChunk = Readonly<{ q: number; a: number; j?: PackedJournal }> & TrailText;

const isBefore = (packed: PackedChunk | ChunkBefore): packed is ChunkBefore =>
  formatOf(packed) === 1;

/** How many bytes these entries take inside an instance. */
export function trailBytes(entries: readonly TrailEntry[], definition: Definition): number {
  const from = entries[0]?.at ?? instantFrom(0);
  return Buffer.byteLength(JSON.stringify(writeTrail(entries, from, indexOf(definition))));
}

const STATUSES = ["live", "succeeded", "failed", "cancelled"] as const;

/** What every ticket has goes by position; the rest of it, by name: it differs per kind. */
function packTicket(ticket: Ticket, { startedAt, lastNow }: Instance, index: Index): PackedTicket {
  const { id, ref, element, since, lease, on, ...rest } = ticket;
  const place = referenceTo(element, index);
  const common = [id, ref, place, since - startedAt, packLease(lease, lastNow)] as const;
  if (ticket.on === "task" && ticket.claim === undefined && ticket.person === undefined) {
    const { type, attempt, retries, notBefore } = ticket;
    const task = [type, attempt, retries];
    return [...common, notBefore === undefined ? task : [...task, notBefore]];
  }
  return [...common, { on, ...rest }];
}

function parseTicket(ticket: PackedTicket, packed: Packed, definition: Definition): Ticket {
  const [id, ref, element, since, lease, rest] = ticket;
  const common = {
    id,
    ref,
    element: elementOf(element, definition),
    since: instantFrom(packed.a + since),
    ...parseLease(lease, packed),
  };
  if (Array.isArray(rest)) {
    const [type, attempt, retries, notBefore] = rest;
    return { ...common, on: "task", type, attempt, retries, ...(notBefore && { notBefore }) };
  }
  return { ...common, ...rest } as Ticket;
}

function packLease(lease: Lease | undefined, lastNow: Instant): PackedLease {
  if (lease === undefined) return 0;
  const { trigger, owner, expiresAt } = lease;
  return [trigger, owner === null ? 0 : packOwner(owner), expiresAt - lastNow];
}

function parseLease(lease: PackedLease, packed: Packed): { lease?: Lease } {
  if (lease === 0) return {};
  const [trigger, owner, until] = lease;
  const expiresAt = instantFrom(packed.a + packed.n + until);
  return { lease: { trigger, owner: owner === 0 ? null : parseOwner(owner), expiresAt } };
}
