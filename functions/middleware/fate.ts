import { MAX_QUEUE_DELAY_MS } from "../../lib/definition/limits.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";
import type { Message, Verdict } from "../../lib/ports/message.ts";
import { MAX_HIDDEN_SECONDS } from "./source-queue.ts";

/** What becomes of a message after its verdict. */
export type Fate = Readonly<
  | { kind: "done" }
  /** So soon that it is worth waiting for here. */
  | { kind: "again"; inMs: number }
  /** A copy comes later; this one is done with. */
  | { kind: "later"; inSeconds: number }
  /** The same message comes back. */
  | { kind: "back"; inSeconds: number }
>;

/**
 * What comes too early is queued anew: to bring the same message back would use up its receives,
 * and in the end take an early message for a broken one.
 */
export function fateOf(message: Message, verdict: Verdict, mayWait: boolean): Fate {
  if (verdict === "release") return { kind: "done" };
  const { keepForMs } = verdict;
  const inSeconds = Math.ceil(keepForMs / 1_000);
  if (!mayBeEarly(message)) return { kind: "back", inSeconds: hidden(inSeconds) };
  if (keepForMs >= 1_000) {
    return { kind: "later", inSeconds: Math.min(inSeconds, MAX_QUEUE_DELAY_MS / 1_000) };
  }
  return mayWait ? { kind: "again", inMs: keepForMs } : { kind: "back", inSeconds: 1 };
}

/** Of messages that were taken together: those that stay come back when the first of them may. */
export function backInSeconds(verdicts: readonly Verdict[]): number {
  const kept = verdicts.flatMap((verdict) => (verdict === "release" ? [] : verdict.keepForMs));
  return hidden(Math.ceil(Math.min(...kept) / 1_000));
}

/**
 * How long a message stays away that failed, by how often it came: what passes soon is tried soon.
 * Then its queue says, so that ten tries outlast an outage of some minutes.
 */
export function pauseAfterFailure(receives: number): number | undefined {
  return [2, 10, 30][receives - 1];
}

/** Whether the message itself is at fault: no later try could help. */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof EngineError) || error.retryable) return false;
  return error.code === "message/unreadable" || error.code.startsWith("request/");
}

const hidden = (seconds: number): number => Math.min(Math.max(seconds, 0), MAX_HIDDEN_SECONDS);

function mayBeEarly(message: Message): boolean {
  return message.kind === "timer" || (message.kind === "task" && message.notBefore !== undefined);
}
