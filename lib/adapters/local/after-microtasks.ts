/**
 * Runs the work when no microtask is left, and before the event loop goes on: a tick that is asked for
 * by a microtask runs then.
 */
export function afterMicrotasks(work: () => void): void {
  queueMicrotask(() => process.nextTick(work));
}
