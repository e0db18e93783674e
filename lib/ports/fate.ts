/**
 * What becomes of a queued message after its verdict. A queue counts how often it has handed a
 * message out, and in the end takes it for a broken one. Only failures may lead there, never a
 * verdict: what has to wait for long, or came often already, is queued anew and counts from one.
 */
import { MAX_QUEUE_DELAY_MS } from "../definition/limits.ts";
import type { Message, Verdict } from "./message.ts";

export type Fate = Readonly<
  /** So soon that it is worth waiting for here. */
  { kind: "again"; inMs: number } | Ending
>;

/** What is left to do with a message that nobody works on any more. */
export type Ending = Readonly<
  | { kind: "done" }
  /** A copy comes later; this one is done with. */
  | { kind: "later"; inSeconds: number }
  /** The same message comes back. */
  | { kind: "back"; inSeconds: number }
>;

/** How a message came. */
export type Delivery = Readonly<{
  /**
   * In order: while one message of an instance is hidden, all others of it wait. Last: the queue
   * counts nothing, and takes no copies.
   */
  queue: "standard" | "in-order" | "last";
  /** How often it was handed out, this time included. */
  receives: number;
  /** Whether there is time left to wait for it. */
  mayWait: boolean;
}>;

/** What a verdict means for a message that came like this. */
export function fateOf(message: Message, verdict: Verdict, delivery: Delivery): Fate {
  if (verdict === "release") return { kind: "done" };
  const { keepForMs } = verdict;
  const { queue, receives, mayWait } = delivery;
  if (keepForMs < SOON_MS && mayWait) return { kind: "again", inMs: keepForMs };
  const keptSeconds = Math.ceil(keepForMs / 1_000);
  if (isEarly(message, keepForMs) && queue === "standard") return later(keptSeconds);
  const inSeconds = Math.max(keptSeconds, pauseAfter(receives));
  return mayComeBack(queue, receives, inSeconds) ? back(inSeconds) : later(inSeconds);
}

/** What has to wait for less than this is waited for. */
export const SOON_MS = 1_000;

/** How often a message is waited for in one delivery. */
export const MAX_TURNS = 5;

/**
 * The longest that a message can be hidden which somebody has: twelve hours from its receipt, and
 * of these the function that has it may have used a quarter of one.
 */
export const MAX_HIDDEN_SECONDS = 42_300;

/** What comes to a standstill by itself is asked about less and less often. */
const pauseAfter = (receives: number): number => [1, 2, 5, 10][receives - 1] ?? 30;

function mayComeBack(queue: Delivery["queue"], receives: number, inSeconds: number): boolean {
  if (queue === "last") return true;
  return receives < MAX_RECEIVES && (queue === "standard" || inSeconds <= MAX_SECONDS_IN_ORDER);
}

/** Half of what a queue allows, so that failures have the other half. */
const MAX_RECEIVES = 5;

/** How long the other messages of an instance may have to wait for one of them. */
const MAX_SECONDS_IN_ORDER = 5;

const back = (seconds: number): Ending => ({
  kind: "back",
  inSeconds: Math.min(seconds, MAX_HIDDEN_SECONDS),
});

const later = (seconds: number): Ending => ({
  kind: "later",
  inSeconds: Math.min(seconds, MAX_QUEUE_DELAY_MS / 1_000),
});

/** Nobody works on it: it is not due yet. */
function isEarly(message: Message, keepForMs: number): boolean {
  const mayBe =
    message.kind === "timer" ||
    message.kind === "timer-start" ||
    (message.kind === "task" && message.notBefore !== undefined);
  return mayBe && keepForMs >= SOON_MS;
}
