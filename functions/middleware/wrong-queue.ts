import { EngineError } from "../../lib/ports/engine-error.ts";
import { aboutQueued, type Queued } from "./batch.ts";

/** The refusal of a message that its queue does not carry; it is set aside. */
export function wrongQueue(message: Queued, fix: string): EngineError {
  return new EngineError("message/unreadable", {
    happened: "A message came through the wrong queue",
    where: JSON.stringify(aboutQueued(message)),
    fix,
  });
}
