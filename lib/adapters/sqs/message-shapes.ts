// Shapes of what a queue brings besides messages: a reference to a body, and events of the bus.

import * as z from "zod/mini";
import { maybe, text, variables } from "../../ports/schema.ts";

/** A body that is stored as a blob under the name `ref`. */
export const bodyReference = z.strictObject({ ref: text });

/**
 * What the rules of the bus deliver, whole as EventBridge writes it: a broadcast, or the request
 * for a signal.
 */
export const busEvent = z.discriminatedUnion("detail-type", [
  z.object({
    "detail-type": z.literal("signal-accepted"),
    source: z.literal("fermata"),
    detail: variables,
  }),
  z.object({
    id: text,
    "detail-type": z.literal("signal-requested"),
    detail: z.strictObject({ name: text, payload: maybe(variables) }),
  }),
]);
