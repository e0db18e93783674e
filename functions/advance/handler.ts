import type { Engine } from "../../lib/engine/engine.ts";
import type { InstanceHandler } from "../middleware/taken-together.ts";

/** Handles the parked messages of an instance, up to ten at a time. */
export function advanceInstance(engine: Pick<Engine, "advance">): InstanceHandler {
  return (messages, invocation) => engine.advance(messages, invocation);
}
