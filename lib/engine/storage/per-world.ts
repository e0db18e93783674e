import type { World } from "../world.ts";

/** What this process keeps beside each world, such as a cache; it goes with the world. */
export function perWorld<T>(make: () => T): (world: World) => T {
  const kept = new WeakMap<World, T>();
  return (world) => {
    const known = kept.get(world) ?? make();
    kept.set(world, known);
    return known;
  };
}
