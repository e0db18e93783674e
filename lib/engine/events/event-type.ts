/** How events of a name behave: declared once, and copied into each event when it is accepted. */
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { checkName } from "../request-rules.ts";
import type { EventConfig, EventTypeView } from "../shapes/signals.ts";
import { changeHead, type Head, peekHead } from "../topics/head.ts";
import type { World } from "../world.ts";

/** Of events that nobody has declared. */
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
  checkName("name", name);
  checkConfig(world, config);
  const { consumeOnRead, deliveryMode, expireAfter, onTargetTerminated } = config;
  const declared = { consumeOnRead, deliveryMode, expireAfter, onTargetTerminated };
  await changeHead(world, { kind: "event", name }, (head) => ({ ...head, config: declared }));
  return { name, declared: true, ...declared };
}

export async function getEventType(world: World, name: string): Promise<EventTypeView> {
  checkName("name", name);
  const head = await peekHead(world, { kind: "event", name });
  return { name, declared: head.config !== undefined, ...configOf(head) };
}

export const configOf = ({ config }: Head): EventConfig => config ?? UNDECLARED;

/** When an event that is accepted now is no longer worth anything. */
export function expiryOf({ expireAfter }: EventConfig, now: Instant): Instant {
  const duration = parseDuration(expireAfter);
  return duration.ok ? addDuration(now, duration.value) : now;
}

function checkConfig(world: World, config: EventConfig): void {
  const wrong = [
    ...(typeof config.consumeOnRead === "boolean" ? [] : [["consumeOnRead", "must be a boolean"]]),
    ...oneOf("deliveryMode", config.deliveryMode, ["AfterWait", "AfterCreate", "All"]),
    ...oneOf("onTargetTerminated", config.onTargetTerminated, POLICIES),
    ...durationProblems(world, config.expireAfter),
  ];
  if (wrong.length === 0) return;
  throw new EngineError("request/invalid", {
    happened: wrong.map(([path, message]) => `${path} ${message}`).join("; "),
    where: "event type",
    fix: "Mend every setting that is listed; nothing was stored.",
    retryable: false,
    details: wrong.map(([path, message]) => ({ path, message })),
  });
}

const POLICIES = ["discard", "broadcast", "deadLetter"];

const oneOf = (path: string, value: string, allowed: readonly string[]): readonly string[][] =>
  allowed.includes(value) ? [] : [[path, `must be one of ${allowed.join(", ")}`]];

function durationProblems(world: World, text: string): readonly string[][] {
  const duration = parseDuration(text);
  if (!duration.ok) return [["expireAfter", `${duration.problem} ${duration.hint}`]];
  const now = world.clock.now();
  return addDuration(now, duration.value) > now
    ? []
    : [["expireAfter", "must be longer than zero"]];
}
