import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArmedHeap } from "../../../lib/adapters/local/armed-heap.ts";
import { type Due, DueHeap } from "../../../lib/adapters/local/due-heap.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";

describe("a due heap", () => {
  test("gives what is due in order, whatever was added and removed", () => {
    const entry = fc.record({ at: fc.integer({ min: 0, max: 20 }), isRemoved: fc.boolean() });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 200 }), fc.integer({ max: 20 }), (entries, now) => {
        const heap = new DueHeap<number>();
        const dues = entries.map(({ at }, n) => heap.add(n, instantFrom(at)));
        for (const [n, due] of dues.entries()) if (entries[n]?.isRemoved) heap.remove(due);
        const left = entries
          .map(({ at, isRemoved }, n) => ({ at, isRemoved, n }))
          .filter(({ isRemoved }) => !isRemoved)
          .sort((a, b) => a.at - b.at || a.n - b.n);

        expect(heap.size).toBe(left.length);
        expect(heap.earliest).toBe(left[0]?.at);
        expect([...heap].map(({ item }) => item).toSorted()).toEqual(
          left.map(({ n }) => n).toSorted(),
        );
        expect(takeAll(heap, now)).toEqual(left.filter(({ at }) => at <= now).map(({ n }) => n));
      }),
    );
  });

  test("accepts the removal of an entry that has already left", () => {
    const heap = new DueHeap<string>();
    const first = heap.add("first", instantFrom(1));
    heap.add("second", instantFrom(2));
    heap.takeDue(instantFrom(1));
    heap.remove(first);
    heap.remove(first);

    expect(heap.size).toBe(1);
    expect(takeAll(heap, instantFrom(5))).toEqual(["second"]);
  });

  test("holds at most twice the waiting entries, however many come and go", () => {
    const heap = new DueHeap<number>();
    const kept: Due<number>[] = [];
    for (let n = 0; n < 100_000; n++) {
      const due = heap.add(n, instantFrom(n));
      if (n % 1_000 === 0) kept.push(due);
      else heap.remove(due);
    }

    expect(heap.size).toBe(kept.length);
    expect(heap.places).toBeLessThanOrEqual(2 * kept.length + 64);
  });
});

describe("the heap of armed timers", () => {
  test("holds a timer once, at the instant it was armed for last", () => {
    const heap = new ArmedHeap();
    const timer = { tenant: "default", instanceId: "a", ticket: "t1.1" };
    heap.put(timer, instantFrom(5));
    heap.put(timer, instantFrom(9));

    expect(heap.size).toBe(1);
    expect(heap.takeDue(instantFrom(5))).toEqual([]);
    expect(heap.takeDue(instantFrom(9))).toEqual([timer]);
    expect(heap.size).toBe(0);
  });

  test("retains nothing of a million timers that were armed and disarmed", () => {
    const heap = new ArmedHeap();
    for (let n = 0; n < 1_000_000; n++) {
      const timer = { tenant: "default", instanceId: `i${n % 1_000}`, ticket: `t${n}.1` };
      heap.put(timer, instantFrom(n));
      heap.remove(timer);
    }

    expect(heap.size).toBe(0);
    expect(heap.earliest).toBeUndefined();
  });
});

function takeAll<T>(heap: DueHeap<T>, now: number): readonly T[] {
  const taken: T[] = [];
  for (;;) {
    const due = heap.takeDue(instantFrom(now));
    if (due === undefined) return taken;
    taken.push(due.item);
  }
}
