import type { Fact } from "../kernel/fact.ts";

/**
 * What happens in an engine and stands in no commit: for those who watch over its health. Nothing
 * rests on it, and nothing that a workflow carries is in it.
 */
export type Observation = Readonly<
  /**
   * A message was let go that could do nothing any more: its ticket is gone, and nothing is owed by
   * its name. `task` is the message of an attempt that is over: no code was run for it.
   */
  | { kind: "stale"; instanceId: string; fact: Fact["kind"] | "task" }
  /** An owner died before everything was sent: what it owed has another owner now. */
  | { kind: "taken-over"; instanceId: string; name: string }
  /** A living owner works on what the message is for: it comes back when he must be done. */
  | { kind: "left-to-owner"; instanceId: string }
  /** A commit was seen half applied: its reader reads again. */
  | { kind: "fenced"; instanceId: string }
  /** The instance is crowded or contended: what was to be taken waits in its queue. */
  | { kind: "outcome-parked"; instanceId: string }
  /** No queue had brought it: the sweep sent it, this long after it was due. */
  | { kind: "swept"; lateMs: number }
  /** A start event by timer has begun an instance, this long after it was due. */
  | { kind: "timer-start-fired"; definitionId: string; element: string; lateMs: number }
  /** A page of a broadcast has reached those on it, this long after it was accepted. */
  | { kind: "page-delivered"; broadcastId: string; matched: number; ms: number }
  /** A message waits for its taker; with it so many do in its mailbox. */
  | { kind: "message-kept"; depth: number }
>;
