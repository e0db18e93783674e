// Batches may be done in part: unprocessed keys are sent again after an exponential, jittered
// backoff.

/** How a caller waits; tests need not. */
export type Patience = Readonly<{ random: () => number; pause: (ms: number) => Promise<void> }>;

/** Sends until nothing is left; false when the service accepted nothing for a while. */
export async function sendUntilDone<T>(
  things: readonly T[],
  send: (things: readonly T[]) => Promise<readonly T[]>,
  { random, pause }: Patience,
): Promise<boolean> {
  let left = things;
  for (let idle = 0; left.length > 0; idle++) {
    if (idle > MAX_IDLE_ROUNDS) return false;
    if (idle > 0) await pause(Math.ceil(random() * FIRST_PAUSE_MS * 2 ** idle));
    const before = left.length;
    left = await send(left);
    // A batch too large for one response is not a throttle: continue at once.
    if (left.length < before) idle = -1;
  }
  return true;
}

const FIRST_PAUSE_MS = 20;
const MAX_IDLE_ROUNDS = 6;
