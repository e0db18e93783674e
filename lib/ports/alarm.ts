/** Rings once after a while of real time; the answer calls it off. */
export type Alarm = (afterMs: number, ring: () => void) => () => void;

/** An alarm by the timers of this process. */
export const processAlarm: Alarm = (afterMs, ring) => {
  const timeout = setTimeout(ring, afterMs);
  return () => clearTimeout(timeout);
};

/** The same, but it keeps no process alive. */
export const quietAlarm: Alarm = (afterMs, ring) => {
  const timeout = setTimeout(ring, afterMs).unref();
  return () => clearTimeout(timeout);
};
