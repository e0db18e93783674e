/**
 * What happens to a queued message after its verdict. A queue counts receives and finally moves a
 * message to its dead letters. Only failures may lead there, never a verdict: a message that has to
 * wait long, or was received often already, is sent again as a copy and counts from one.
 */
import { MAX_QUEUE_DELAY_MS } from "../definition/limits.ts";
import type { Message, Verdict } from "./message.ts";

export type Fate = Readonly<
  /** Retried so soon that the handler waits for it. */
  { kind: "again"; inMs: number } | Ending
>;

/** What to do with a message that is no longer being handled. */
export type Ending = Readonly<
  | { kind: "done" }
  /** A delayed copy is sent; this one is deleted. */
  | { kind: "later"; inSeconds: number }
  /** The same message comes back. */
  | { kind: "back"; inSeconds: number }
>;

/** How a message was delivered. */
export type Delivery = Readonly<{
  /**
   * In order: while one message of an instance is hidden, all its others wait. Last: the queue
   * counts no receives, and takes no copies.
   */
  queue: "standard" | "in-order" | "last";
  /** How often it was received, this time included. */
  receives: number;
  /** Whether there is time left to wait for it. */
  mayWait: boolean;
}>;

/** What a verdict means for a message of this delivery. */
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

/** Shorter waits happen within the delivery. */
export const SOON_MS = 1_000;

/** How often one delivery waits for a message. */
export const MAX_TURNS = 5;

/**
 * The longest that a received message can be hidden: twelve hours from its receipt, of which the
 * function that handles it may have used a quarter of an hour.
 */
export const MAX_HIDDEN_SECONDS = 42_300;

/** Backoff of a message that makes no progress. */
const pauseAfter = (receives: number): number => [1, 2, 5, 10][receives - 1] ?? 30;

function mayComeBack(queue: Delivery["queue"], receives: number, inSeconds: number): boolean {
  if (queue === "last") return true;
  return receives < MAX_RECEIVES && (queue === "standard" || inSeconds <= MAX_SECONDS_IN_ORDER);
}

/** Half of the receives that a queue allows, so that failures have the other half. */
const MAX_RECEIVES = 5;

/** How long one message of an instance may block the others. */
const MAX_SECONDS_IN_ORDER = 5;

const back = (seconds: number): Ending => ({
  kind: "back",
  inSeconds: Math.min(seconds, MAX_HIDDEN_SECONDS),
});

const later = (seconds: number): Ending => ({
  kind: "later",
  inSeconds: Math.min(seconds, MAX_QUEUE_DELAY_MS / 1_000),
});

/** It is not being handled yet, because it is not due. */
function isEarly(message: Message, keepForMs: number): boolean {
  const mayBe =
    message.kind === "timer" ||
    message.kind === "timer-start" ||
    (message.kind === "task" && message.notBefore !== undefined);
  return mayBe && keepForMs >= SOON_MS;
}
