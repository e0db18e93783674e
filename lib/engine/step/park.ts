import type { Instance } from "../../kernel/instance.ts";
import type { World } from "../world.ts";
import type { Want } from "./take.ts";

/** Leaves a want to the queue of its instance, where many are taken together. */
export function parkWant(
  world: World,
  { tenant, id: instanceId }: Pick<Instance, "tenant" | "id">,
  want: Want,
): Promise<void> {
  const about = { tenant, instanceId, name: want.name };
  return "fact" in want
    ? world.parking.park({ kind: "parked", ...about, fact: want.fact })
    : world.parking.park({ kind: "look", ...about, ticket: want.look });
}
