import type { Json } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";

/** One line of history, numbered without gaps from 1. */
export type TrailEntry = Readonly<{
  seq: number;
  at: Instant;
  type: TrailType;
  element?: string;
  data?: Json;
}>;

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
