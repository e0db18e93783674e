import type { Invocation, Message, Verdict } from "../../ports/message.ts";
import type { MessageOf, World } from "../world.ts";

/** One message, one verdict: "release" once nothing depends on the message any more. */
export function handle<Kind extends Message["kind"]>(
  world: World,
  message: { [Each in Kind]: MessageOf<Each> }[Kind],
  invocation: Invocation,
): Promise<Verdict> {
  const kind: Kind = message.kind;
  return world.handlers[kind](world, message, invocation);
}
