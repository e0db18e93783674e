// Loops and percentiles.

/** Sorted on the way in; the share is between 0 and 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export type Loop = Readonly<{ count: number; callers: number }>;
export type Looped = Readonly<{ perSecond: number; ms: readonly number[] }>;

/** Runs the work with this many concurrent callers; returns how long each call took. */
export async function closedLoop(
  { count, callers }: Loop,
  work: () => Promise<void>,
): Promise<Looped> {
  const ms: number[] = [];
  let left = count;
  const call = async () => {
    while (left-- > 0) {
      const begin = performance.now();
      await work();
      ms.push(performance.now() - begin);
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  return { perSecond: (count / (performance.now() - begin)) * 1_000, ms };
}
