/**
 * Externalized values: a large variable is stored once, by its content, and the instance holds only
 * where it belongs. The kernel never sees this: a loaded instance has every value.
 *
 * 1. A value is stored before the commit that needs it, never changed, and never removed while its
 *    instance lives: a reference always finds its value.
 * 2. An externalized value stays so, and no later step puts it again.
 * 3. A value of a commit that lost, and one that was replaced, stays until the instance ends, since a
 *    removal costs as much as a put. Then all of them expire with the instance.
 */
import type { Json } from "../../definition/json.ts";
import {
  MAX_INSTANCE_BYTES,
  MAX_VALUES_BYTES,
  MAX_WHOLE_BYTES,
  MIN_APART_BYTES,
} from "../../definition/limits.ts";
import { type Externalized, type Instance, isTerminal } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import type { Item } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { encodePacked, type Packed, type PackedApart, type Path, packInstance } from "./codec.ts";
import { perWorld } from "./in-process.ts";
import { valueAt, withValues } from "./paths.ts";

/** The bytes of an instance, its externalized values, and which of these are not stored yet. */
export type Encoded = Readonly<{
  body: Uint8Array;
  apart?: readonly Externalized[];
  values: readonly NewValue[];
}>;

export type NewValue = Externalized & Readonly<{ value: Json }>;

/** Writes an instance down in at most `room` bytes, if its values let it. */
export function encodeInstance(
  world: World,
  program: Program,
  instance: Instance,
  room: number,
): Encoded {
  const packed = packInstance(instance, program.definition);
  const { apart } = instance;
  if (apart === undefined || apart.length === 0) {
    const body = encodePacked(apart ? { ...packed, v: [] } : packed);
    if (body.length <= room) return { body, ...(apart && { apart }), values: [] };
  }
  const stored = new Set(apart?.map(({ hash }) => hash));
  const large = placesOf(packed, program).flatMap((at) => weigh(world, packed, at));
  const leaving = leavingOf(packed, large, stored, room);
  const body = encodePacked(without(packed, leaving));
  return {
    body,
    ...((apart || leaving.length > 0) && { apart: apartIn(leaving) }),
    values: distinct(leaving.filter(({ hash }) => !stored.has(hash))),
  };
}

/** What an instance may take before values leave it; `besides` are the bytes of its keys. */
export function roomOf(world: World, instance: Instance, besides: number): number {
  // The end is written once: there is nothing to be saved any more.
  if (isTerminal(instance)) return MAX_WHOLE_BYTES;
  const { host, wholeBytes = host.wholeBytes } = world.settings;
  return wholeBytes - besides;
}

/** Says whether an instance is one that can be stored. */
export function fits(body: Uint8Array, apart: readonly Externalized[] = []): boolean {
  const bytes = apart.reduce((sum, value) => sum + value.bytes, 0);
  return body.length <= MAX_INSTANCE_BYTES && bytes <= MAX_VALUES_BYTES;
}

/** Says whether an instance that ends now may have externalized values, which must go with it. */
export function mayExternalize({ apart, state, journal }: Instance): boolean {
  const values = journal ? [state, journal] : state;
  return apart !== undefined || JSON.stringify(values).length > MAX_WHOLE_BYTES / 4;
}

type Large = NewValue & Readonly<{ at: Path }>;

/** Every place of an instance that holds a value of a user's. */
function placesOf(packed: Packed, { runner }: Program): readonly Path[] {
  return [
    ...runner.places(packed.x).map((place) => ["x", ...place]),
    ...packed.k.flatMap(([, , , , , rest], n) => handedOver(rest, ["k", n, 5])),
    ...packed.k.flatMap((_, n) => KEPT.map((place) => ["k", n, 5, "kept", "fact", ...place])),
    ...(packed.o ?? []).flatMap((_, n) => SENT.map((place) => ["o", n, 1, ...place])),
    ...(packed.ib ?? []).map((_, n) => ["ib", n, "payload"]),
    ...(packed.j?.[1] ?? []).map((_, n) => ["j", 1, n, 2]),
    ["r"],
    ["er", "variables"],
  ];
}

/** What calls hand over stands there by its names, as it does where it comes from. */
function handedOver(rest: Packed["k"][number][5], at: Path): readonly Path[] {
  if (!("on" in rest)) return [];
  if (rest.on === "family" && isObject(rest.call)) return namesIn(rest.call, [...at, "call"]);
  return rest.on === "child" ? namesIn(rest, at) : [];
}

function namesIn(call: object, at: Path): readonly Path[] {
  if (!("variables" in call) || !isObject(call.variables)) return [];
  return Object.keys(call.variables).map((name) => [...at, "variables", name]);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Where the facts that incidents keep have them. */
const KEPT: readonly Path[] = [
  ["payload"],
  ["variables"],
  ["event", "payload"],
  ["input", "variables"],
  ["input", "trigger", "payload"],
];
/** Where effects have them. */
const SENT: readonly Path[] = [["payload"], ["event", "payload"]];

/** The value at this place, if it is large enough to be externalized. */
function weigh(world: World, packed: Packed, at: Path): readonly Large[] {
  const value = valueAt(packed, at);
  if (value === undefined || isSmall(value)) return [];
  const weight = weightOf(world, value);
  return weight.bytes > MIN_APART_BYTES ? [{ at, value, ...weight }] : [];
}

/** What needs no measuring: at worst every character of a text is escaped. */
function isSmall(value: Json): boolean {
  if (typeof value === "string") return value.length * 6 + 2 <= MIN_APART_BYTES;
  return typeof value !== "object" || value === null;
}

/** Values are never changed: what one weighs is found out once. */
function weightOf(world: World, value: Json): Externalized {
  const known = isObject(value) ? weights(world).get(value) : undefined;
  if (known) return known;
  const text = JSON.stringify(value);
  const weight = { bytes: Buffer.byteLength(text), hash: world.ids.digest(text) };
  if (isObject(value)) weights(world).set(value, weight);
  return weight;
}

const weights = perWorld(() => new WeakMap<object, Externalized>());

/** The values that are externalized already, and the largest of the others, until the rest fits. */
function leavingOf(
  packed: Packed,
  large: readonly Large[],
  stored: ReadonlySet<string>,
  room: number,
): readonly Large[] {
  const leaving = large.filter(({ hash }) => stored.has(hash));
  const others = large.filter(({ hash }) => !stored.has(hash));
  let bytes = encodePacked(without(packed, leaving)).length;
  for (const value of others.toSorted((a, b) => b.bytes - a.bytes)) {
    if (bytes <= room) break;
    leaving.push(value);
    bytes -= value.bytes - JSON.stringify(referenceOf(value)).length;
  }
  return leaving;
}

function without(packed: Packed, leaving: readonly Large[]): Packed {
  const zeros = leaving.map(({ at }) => [at, 0] as const);
  const rest = withValues(packed, zeros);
  return { ...rest, v: leaving.map(referenceOf) };
}

const referenceOf = ({ at, hash, bytes }: Large): PackedApart => [at, hash, bytes];

/** Mostly a call hands over what its caller has itself: that is read, shown and counted once. */
function apartIn(leaving: readonly Large[]): readonly Externalized[] {
  const shown = leaving.filter(({ at }) => !isHandedOver(at));
  const known = new Set(shown.map(({ hash }) => hash));
  const others = leaving.filter(({ at, hash }) => isHandedOver(at) && !known.has(hash));
  return [...shown, ...distinct(others)].map(({ hash, bytes }) => ({ hash, bytes }));
}

/** Tickets hold values of two kinds: what a call hands over, and facts that incidents keep. */
const isHandedOver = ([where, , , what]: Path): boolean => where === "k" && what !== "kept";

function distinct(values: readonly Large[]): readonly Large[] {
  return [...new Map(values.map((value) => [value.hash, value])).values()];
}

/** What an instance may take, in words. */
export const SIZE_LIMITS = `${MAX_INSTANCE_BYTES} bytes, and ${MAX_VALUES_BYTES} of large values apart`;

/**
 * What a store that bills by the byte counts of an item besides its body: keys, index entries and
 * their names. Never less than it is, and at most a few bytes more.
 */
export function billedBesides({ key, lookAt, listed, expiresAt }: Omit<Item, "body">): number {
  const keys = Buffer.byteLength(key.pk) + Buffer.byteLength(key.sk);
  const due = lookAt === undefined ? 0 : keys + DUE_BYTES;
  const shown = listed
    ? Buffer.byteLength(listed.view) + Buffer.byteLength(listed.order) + LISTED_BYTES
    : 0;
  return keys + OWN_BYTES + due + shown + (expiresAt === undefined ? 0 : EXPIRY_BYTES);
}

/** Names and numbers: of the key, the version and the body; of the places; of the two expiries. */
const OWN_BYTES = 16;
const DUE_BYTES = 48;
const LISTED_BYTES = 12;
const EXPIRY_BYTES = 24;
