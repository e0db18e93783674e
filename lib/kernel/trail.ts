import type { Json } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";

/** One line of history, numbered without gaps from 1. */
export type TrailEntry = Readonly<{
  seq: number;
  at: Instant;
  type: TrailType;
  element?: string;
  /**
   * Which visit of the element it tells of: a number that no other visit in the instance has, from
   * its `element-entered` on. Absent where the runner has none, and in what format 4 has written.
   */
  occurrence?: number;
  data?: Json;
}>;

/** What an entry may say besides its number, its time and its type. */
export type Told = {
  readonly [K in "element" | "occurrence" | "data"]?: TrailEntry[K] | undefined;
};

/** An entry that has only what is told; every step makes many, so it is put together in place. */
export function entryOf(
  head: Pick<TrailEntry, "seq" | "at" | "type">,
  { element, occurrence, data }: Told,
): TrailEntry {
  const { seq, at, type } = head;
  const entry: { -readonly [K in keyof TrailEntry]: TrailEntry[K] } = { seq, at, type };
  if (element !== undefined) entry.element = element;
  if (occurrence !== undefined) entry.occurrence = occurrence;
  if (data !== undefined) entry.data = data;
  return entry;
}

/**
 * What came of one operation of a program, numbered without gaps from 1: `element` is the runner's
 * own number for what it was, `at` is the time of the step, which a replay sees again.
 */
export type JournalEntry = readonly [element: number, at: Instant, outcome: Json];

/** When the present run of an instance began: what is older was left by another. */
export const runOf = (instance: Readonly<{ runAt?: Instant; startedAt: Instant }>): Instant =>
  instance.runAt ?? instance.startedAt;

export type TrailType = (typeof TRAIL_TYPES)[number];

/** Stored history refers to types by position: add at the end, remove nothing. */
export const TRAIL_TYPES = [
  "started",
  "element-entered",
  "element-completed",
  "element-terminated",
  "flow-taken",
  "task-completed",
  "task-failed",
  "timer-due",
  "cancel-requested",
  "incident-raised",
  "incident-resolved",
  "continued",
  "instance-ended",
  "task-claimed",
  "error-caught",
  "signal-received",
  "message-received",
  "event-received",
  "event-sent",
  "signal-thrown",
  "variables-patched",
  "child-started",
  "child-ended",
  "task-assigned",
] as const;
