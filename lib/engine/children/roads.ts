import type { ChildRoads } from "../world.ts";
import { cancelChild } from "./cancel-child.ts";
import { startChild } from "./start-child.ts";
import { tellParent } from "./tell-parent.ts";

/** How instances reach each other: each of these may be a step of the other one. */
export const childRoads: ChildRoads = { start: startChild, tellParent, cancel: cancelChild };
