/** How events of a name behave: declared once, and copied into each event when it is accepted. */
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import type { Instant } from "../../definition/time/instant.ts";
import type { EventConfig, EventTypeView } from "../shapes/signals.ts";
import type { World } from "../world.ts";
import { changeHead, type Head, peekHead } from "./topic-head.ts";

/** Of events that were not declared. */
export const UNDECLARED: EventConfig = {
  consumeOnRead: true,
  deliveryMode: "AfterWait",
  expireAfter: "P7D",
  onTargetTerminated: "discard",
};

export async function setEventType(
  world: World,
  name: string,
  config: EventConfig,
): Promise<EventTypeView> {
  const { consumeOnRead, deliveryMode, expireAfter, onTargetTerminated } = config;
  const declared = { consumeOnRead, deliveryMode, expireAfter, onTargetTerminated };
  await changeHead(world, { kind: "event", name }, (head) => ({ ...head, config: declared }));
  return { name, declared: true, ...declared };
}

export async function getEventType(world: World, name: string): Promise<EventTypeView> {
  const head = await peekHead(world, { kind: "event", name });
  return { name, declared: head.config !== undefined, ...configOf(head) };
}

export const configOf = ({ config }: Head): EventConfig => config ?? UNDECLARED;

/** When an event that is accepted now is no longer worth anything. */
export function expiryOf({ expireAfter }: EventConfig, now: Instant): Instant {
  const duration = parseDuration(expireAfter);
  return duration.ok ? addDuration(now, duration.value) : now;
}
