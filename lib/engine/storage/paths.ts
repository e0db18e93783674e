/** Parts of values, by their paths. */
import type { Json } from "../../definition/json.ts";
import type { Path } from "./codec.ts";

/** What stands there; undefined where the path ends before. */
export function valueAt(whole: unknown, path: Path): Json | undefined {
  let at: unknown = whole;
  for (const name of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = Reflect.get(at, name);
  }
  return at as Json | undefined;
}

/** The whole with other values at these places, which are there; what is not on the way is shared. */
export function withValues<T>(whole: T, changes: readonly (readonly [Path, Json])[]): T {
  return changes.reduce<unknown>((at, [path, value]) => withValue(at, path, value), whole) as T;
}

function withValue(whole: unknown, [name, ...rest]: Path, value: Json): unknown {
  if (name === undefined) return value;
  const inner = withValue(Reflect.get(whole as object, name), rest, value);
  if (Array.isArray(whole)) return whole.with(Number(name), inner);
  return { ...(whole as object), [name]: inner };
}
