/** What can be asked of every message, whatever its kind. */

import { type AnyParked, KINDS, type Message, PARKED_KINDS, type WorkMessage } from "./message.ts";
import type { Kind } from "./message-kind.ts";
import { problemsOf } from "./schema.ts";
import { WORK_KINDS } from "./work-message.ts";

/** The message that a value is, or what is wrong with it. */
export function checkMessage(
  value: Readonly<Record<string, unknown>>,
): Readonly<{ message: Message } | { problems: readonly string[] }> {
  const found = KINDS.find(({ kind }) => kind === value.kind);
  if (found === undefined) return { problems: ["kind is wrong (of no kind)"] };
  const parsed = found.schema.safeParse(value);
  return parsed.success ? { message: parsed.data } : { problems: problemsOf(parsed.error) };
}

/** What a report calls a message. */
export const labelOf = (message: Message): string => entryOf(message).label(message);

/** What a log may say of a message. */
export function aboutMessage(message: Message): Readonly<Record<string, unknown>> {
  const { kind } = message;
  const values = new Map<PropertyKey, unknown>(Object.entries(message));
  const told = entryOf(message).logged.map((name) => [name, saidOf(values.get(name))] as const);
  return { kind, ...Object.fromEntries(told) };
}

/** Of a fact only its kind: what it carries is the user's. */
const saidOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "kind" in value ? value.kind : value;

const entryOf = (message: Message): Kind<Message> => BY_KIND.get(message.kind) as Kind<Message>;
const BY_KIND: ReadonlyMap<string, unknown> = new Map(KINDS.map((it) => [it.kind, it]));

/** Whether it is a message of the parking queue. */
export const isParked = (message: Message): message is AnyParked =>
  PARKED_KINDS.some(({ kind }) => kind === message.kind);

export const isWork = (message: Message): message is WorkMessage =>
  WORK_KINDS.some(({ kind }) => kind === message.kind);
