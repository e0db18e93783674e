import type { EventAnswer } from "../lib/client/index.ts";
import { commandLine } from "./call-lines.ts";
import type { Server } from "./server.ts";

/** Says in words what became of an event. */
export function describeEventAnswer(
  { id, outcome, deliveredCount }: EventAnswer,
  { program, server }: Readonly<{ program: string; server: Server }>,
): string {
  if (outcome === undefined) {
    return `on its way. Its receipt: ${commandLine(program, server, ["receipt", id])}`;
  }
  switch (outcome) {
    case "delivered":
      return deliveredCount === undefined || deliveredCount === 1
        ? "delivered."
        : `delivered to ${deliveredCount} waits.`;
    case "queued":
      return "nobody waits for it yet; it is kept.";
    case "dropped":
      return "nobody waits for it, and its type is not kept; it is gone.";
  }
}
