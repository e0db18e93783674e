/** Calls `ring` once after `afterMs` of real time; the returned function cancels it. */
export type Alarm = (afterMs: number, ring: () => void) => () => void;

/** An alarm by the timers of this process. */
export const processAlarm: Alarm = (afterMs, ring) => {
  const timeout = setTimeout(ring, afterMs);
  return () => clearTimeout(timeout);
};

/** The same, but it does not keep the process alive. */
export const quietAlarm: Alarm = (afterMs, ring) => {
  const timeout = setTimeout(ring, afterMs).unref();
  return () => clearTimeout(timeout);
};
