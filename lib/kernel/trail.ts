import type { Json } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";

/** One entry of the history, numbered without gaps from 1. */
export type TrailEntry = Readonly<{
  seq: number;
  at: Instant;
  type: TrailType;
  element?: string;
  /**
   * The visit of the element that it is about: a number that no other visit in the instance has,
   * from its `element-entered` on. Absent where the runner has none, and in entries written by
   * format 4.
   */
  occurrence?: number;
  data?: Json;
}>;

/** What an entry may hold besides its number, time and type. */
export type Told = {
  readonly [K in "element" | "occurrence" | "data"]?: TrailEntry[K] | undefined;
};

/** An entry with only the given fields; built in place, since every step makes many. */
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
 * The outcome of one operation of a program, numbered without gaps from 1: `element` is the
 * runner's number of the operation, `at` is the time of the step, which a replay sees again.
 */
export type JournalEntry = readonly [element: number, at: Instant, outcome: Json];

/** When the current run of an instance began: anything older is from an earlier run. */
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
