import type { EventAnswer } from "../lib/client/index.ts";
import { commandLine } from "./call-lines.ts";
import type { Server } from "./server.ts";

/** Describes in words what happened to an event. */
export function describeEventAnswer(
  { id, outcome, deliveredCount }: EventAnswer,
  { program, server }: Readonly<{ program: string; server: Server }>,
): string {
  if (outcome === undefined) {
    return `delivery continues. Receipt: ${commandLine(program, server, ["receipt", id])}`;
  }
  switch (outcome) {
    case "delivered":
      return deliveredCount === undefined || deliveredCount === 1
        ? "delivered."
        : `delivered to ${deliveredCount} waits.`;
    case "queued":
      return "no instance waits for it yet; it is kept.";
    case "dropped":
      return "no instance waits for it, and events of its type are not kept; it was dropped.";
  }
}
