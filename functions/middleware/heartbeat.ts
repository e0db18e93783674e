import type { SQSRecord } from "aws-lambda";
import type { Alarm } from "../../lib/ports/alarm.ts";
import type { SourceQueue } from "./source-queue.ts";

/** A message whose function died is back after this time, however long its work may take. */
export const HELD_SECONDS = 60;

/** How often the message is held anew: two beats may be lost. */
export const BEAT_MS = 20_000;

/**
 * Holds a message while it is worked on, for `forMs` at most: then its function has answered. A beat
 * that fails is left to the next one. When this resolves none is under way any more, which would
 * undo what is decided about the message next.
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
    if (!isOver) callOff = alarm(BEAT_MS, next);
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
