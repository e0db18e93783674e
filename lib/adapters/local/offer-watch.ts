import type { OfferWait, OfferWatch } from "../../ports/offer-watch.ts";

/** Long polls in this process. Closing releases all of them. */
export type LocalOfferWatch = OfferWatch &
  Readonly<{
    /** The virtual clock has moved: every poll checks again. */
    tellAll(): void;
    close(): void;
  }>;

type Waiter = { wake: (isWorthIt: boolean) => void; told: boolean };

/** An offered task wakes one poll, the one that has waited longest. */
export function offerWatch(): LocalOfferWatch {
  const waiting = new Map<string, Set<Waiter>>();
  let isClosed = false;
  const all = () => [...waiting.values()].flatMap((waiters) => [...waiters]);
  return {
    tell(type) {
      const next = [...(waiting.get(type) ?? [])].find(({ told }) => !told);
      if (next) rouse(next);
    },
    tellAll() {
      for (const waiter of all()) rouse(waiter);
    },
    close() {
      isClosed = true;
      for (const waiter of all()) waiter.wake(false);
    },
    begin(type, waitMs) {
      const waiter: Waiter = { wake: () => {}, told: false };
      waiting.set(type, (waiting.get(type) ?? new Set()).add(waiter));
      const until = performance.now() + waitMs;
      return {
        next: (withinMs) => next(waiter, until - performance.now(), withinMs, () => isClosed),
        stop: () => {
          const others = waiting.get(type);
          others?.delete(waiter);
          if (others?.size === 0) waiting.delete(type);
        },
      } satisfies OfferWait;
    },
  };
}

/** It may be checking right now: then it checks once more before it waits. */
function rouse(waiter: Waiter): void {
  waiter.told = true;
  waiter.wake(true);
}

function next(
  waiter: Waiter,
  leftMs: number,
  withinMs: number | undefined,
  isClosed: () => boolean,
): Promise<boolean> {
  const wasTold = waiter.told;
  waiter.told = false;
  if (leftMs <= 0 || isClosed()) return Promise.resolve(false);
  if (wasTold) return Promise.resolve(true);
  const isLast = withinMs === undefined || withinMs >= leftMs;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timeout = setTimeout(() => resolve(!isLast), Math.min(leftMs, withinMs ?? leftMs));
  waiter.wake = resolve;
  return promise.finally(() => {
    clearTimeout(timeout);
    waiter.wake = () => {};
    waiter.told = false;
  });
}
