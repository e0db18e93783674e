import type { Alarm } from "../../lib/ports/alarm.ts";

/**
 * Waits for everything, but no longer than `ms`: what is not done by then resolves to `otherwise`.
 * A late one must not fail the others when the function times out.
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
