import type { SQSRecord } from "aws-lambda";
import type { Alarm } from "../../lib/ports/alarm.ts";
import type { SourceQueue } from "./source-queue.ts";

/** A message whose function crashed is visible again after this time, however long its work may take. */
export const HELD_SECONDS = 60;

/** How often the visibility timeout is extended: two heartbeats may be lost. */
export const HEARTBEAT_MS = 20_000;

/**
 * Keeps a message hidden while it is handled, for `forMs` at most: then its function has responded.
 * A failed heartbeat is left to the next one. When this resolves no heartbeat is in flight, which
 * could undo the next decision about the message.
 */
export async function whileHeld<T>(
  record: SQSRecord,
  work: () => Promise<T>,
  { queue, alarm, forMs, onTrouble }: Heart,
): Promise<T> {
  let isOver = false;
  let callOff = () => {};
  let beating = Promise.resolve();
  const beat = async (): Promise<void> => {
    try {
      await queue.hide(record, HELD_SECONDS);
    } catch (error) {
      onTrouble(error);
    }
    if (!isOver) callOff = alarm(HEARTBEAT_MS, next);
  };
  const next = () => {
    beating = beat(); // never rejects
  };
  const stop = () => {
    isOver = true;
    callOff();
  };
  const callOffEnd = alarm(forMs, stop);
  next();
  await beating;
  try {
    return await work();
  } finally {
    callOffEnd();
    stop();
    await beating;
  }
}

type Heart = Readonly<{
  queue: Pick<SourceQueue, "hide">;
  alarm: Alarm;
  forMs: number;
  onTrouble: (error: unknown) => void;
}>;
