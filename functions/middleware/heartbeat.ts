import type { SQSRecord } from "aws-lambda";
import type { Alarm } from "./deadline.ts";
import type { SourceQueue } from "./source-queue.ts";

/** A message whose function died is back after this time, however long its work may take. */
export const HELD_SECONDS = 60;

/** How often the message is held anew: two beats may be lost. */
export const BEAT_MS = 20_000;

/** Holds a message while it is worked on. A beat that fails is left to the next one. */
export async function whileHeld<T>(
  record: SQSRecord,
  work: () => Promise<T>,
  { queue, alarm, onTrouble }: Heart,
): Promise<T> {
  let isOver = false;
  let callOff = () => {};
  const beat = async (): Promise<void> => {
    try {
      await queue.hide(record, HELD_SECONDS);
    } catch (error) {
      onTrouble(error);
    }
    if (!isOver) callOff = alarm(BEAT_MS, () => void beat()); // never rejects
  };
  await beat();
  try {
    return await work();
  } finally {
    isOver = true;
    callOff();
  }
}

type Heart = Readonly<{
  queue: Pick<SourceQueue, "hide">;
  alarm: Alarm;
  onTrouble: (error: unknown) => void;
}>;
