/** What the host and the thread that guests run in share. */
import type { MessagePort } from "node:worker_threads";

/** What the thread is started with. */
export type ThreadMemory = Readonly<{
  /** Memory of the rings that requests and answers go through. */
  requests: SharedArrayBuffer;
  answers: SharedArrayBuffer;
  flags: SharedArrayBuffer;
  /** Brings what is too large for the rings. */
  large: MessagePort;
}>;

/** Places in the flags. */
export const FLAG = {
  /** The number of the request that is being served: the host sees which one does not come back. */
  current: 0,
  /** What the thread is doing: see THREAD. */
  thread: 1,
  /** 1: the host wants a message when there is an answer. */
  hostListens: 2,
  /** 1: the host wants a message when there is room for requests. */
  hostHasMore: 3,
  /** Counts feeds: the host sees that a long replay makes progress. */
  fed: 4,
} as const;
export const FLAGS_BYTES = 20;

export const THREAD = {
  /** In its event loop: a message wakes it. */
  idle: 0,
  /** It sees what is written. */
  atWork: 1,
  /** Blocked for a moment: the ring wakes it. */
  napping: 2,
} as const;
