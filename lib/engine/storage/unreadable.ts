/**
 * Stored items that this engine cannot read: written by a newer engine or by one too old, or damaged.
 *
 * 1. Lists, polls and sweeps leave them out, report them once and go on. The items are left as they
 *    are: what only they could tell is not decided without them.
 * 2. Deliveries leave out what is damaged. What a newer engine has written is left to that engine: the
 *    delivery is repeated until it takes it.
 * 3. A request for one by its name answers what is wrong with it.
 */
import { EngineError, type ErrorCode } from "../../ports/engine-error.ts";
import type { Item, Key, Store } from "../../ports/store.ts";
import type { World } from "../world.ts";

/** Says whether an item is the cause, not the store: trying again at once would not help. */
export const isUnreadable = (cause: unknown): cause is EngineError =>
  cause instanceof EngineError && UNREADABLE.has(cause.code) && !cause.stopsEngine;

/** The same for what no later engine reads either. */
export const isDamaged = (cause: unknown): cause is EngineError =>
  isUnreadable(cause) && !cause.retryable;

/** Written by a newer engine, or by one too old; damaged, or its definition is; no runner for that. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "instance/format-too-new",
  "instance/value-missing",
  "store/item-too-new",
  "store/item-too-old",
  "store/corrupt",
  "engine/misconfigured",
]);

/** Which failures a reader passes over: see the rules above. */
type PassedOver = (cause: unknown) => cause is EngineError;

/** What `read` gives; where the item behind the key cannot be read, that is reported instead. */
export async function readable<T>(
  world: World,
  key: Key,
  read: () => Promise<T>,
  isPassedOver: PassedOver = isUnreadable,
): Promise<T | "unreadable"> {
  try {
    return await read();
  } catch (cause) {
    if (!isPassedOver(cause)) throw cause;
    report(world, key, cause);
    return "unreadable";
  }
}

/** What `parse` makes of each item, without those that cannot be read: these are reported. */
export function readableOf<I extends Item, T>(
  world: World,
  items: readonly (I | undefined)[],
  parse: (item: I) => T,
  isPassedOver: PassedOver = isUnreadable,
): readonly T[] {
  return items.flatMap((item) => {
    try {
      return item === undefined ? [] : [parse(item)];
    } catch (cause) {
      if (!isPassedOver(cause)) throw cause;
      if (item) report(world, item.key, cause);
      return [];
    }
  });
}

/** The same for a `read` that waits, one item after the other; it gives nothing where it skips one. */
export async function readEach<T>(
  world: World,
  items: readonly Item[],
  read: (item: Item) => T | undefined | Promise<T | undefined>,
  isPassedOver: PassedOver = isUnreadable,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (const item of items) {
    const value = await readable(world, item.key, async () => read(item), isPassedOver);
    if (value !== undefined && value !== "unreadable") found.push(value);
  }
  return found;
}

/** Once in the life of a process: polls come along the same item every second. */
function report({ store, onTrouble }: World, { pk, sk }: Key, cause: EngineError): void {
  const names = reported.get(store) ?? new Set();
  const name = `${pk} / ${sk}`;
  if (names.has(`${name} ${cause.code}`)) return;
  if (names.size >= MAX_REPORTED) names.clear();
  reported.set(store, names.add(`${name} ${cause.code}`));
  onTrouble?.(`${name} cannot be read and is left out`, cause);
}

const MAX_REPORTED = 1_000;
const reported = new WeakMap<Store, Set<string>>();

/** What `read` makes of stored bytes; bytes that make no sense are reported as damaged. */
export function sound<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw corrupt(where, cause);
  }
}

export const corrupt = (where: string, cause?: unknown): EngineError =>
  new EngineError("store/corrupt", { where, ...(cause !== undefined && { cause }) });
