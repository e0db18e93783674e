import type { Alarm } from "../../lib/ports/alarm.ts";

/**
 * Waits for everything, but no longer than `ms`: what is not done by then is answered with
 * `otherwise`. One that is late must not take the others with it when the function is ended.
 */
export async function allWithin<T>(
  works: readonly Promise<T>[],
  { ms, otherwise, alarm }: Readonly<{ ms: number; otherwise: T; alarm: Alarm }>,
): Promise<readonly T[]> {
  const late = Promise.withResolvers<T>();
  const callOff = alarm(ms, () => late.resolve(otherwise));
  try {
    return await Promise.all(works.map((work) => Promise.race([work, late.promise])));
  } finally {
    callOff();
  }
}
