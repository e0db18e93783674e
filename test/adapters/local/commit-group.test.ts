import { describe, expect, test } from "vitest";
import { CommitGroup } from "../../../lib/adapters/local/commit-group.ts";

/** A group of commits; each caller notes its answer, and what it does some awaits later. */
function aGroup(count: number): Readonly<{ group: CommitGroup; seen: string[] }> {
  const group = new CommitGroup();
  const seen: string[] = [];
  for (let n = 1; n <= count; n++) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    group.add({ writes: [], resolve, reject });
    void promise.then(async () => {
      seen.push(`answer ${n}`);
      for (let hops = 0; hops < 5; hops++) await null;
      seen.push(`work ${n}`);
    });
  }
  return { group, seen };
}

const committed = { kind: "committed" } as const;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("the answers of a group", () => {
  test("are given all at once", async () => {
    const { group, seen } = aGroup(3);

    group.settle((call) => call.resolve(committed));
    await nextTurn();

    expect(seen).toEqual(["answer 1", "answer 2", "answer 3", "work 1", "work 2", "work 3"]);
  });

  test("are given in portions, each after the work that follows from the one before", async () => {
    const { group, seen } = aGroup(3);

    group.settle((call) => call.resolve(committed), 2);
    await nextTurn();

    expect(seen).toEqual(["answer 1", "answer 2", "work 1", "work 2", "answer 3", "work 3"]);
  });

  test("are given before the event loop goes on, and the waits for them come last", async () => {
    const { group, seen } = aGroup(40);
    void group.settled().then(() => seen.push("settled"));
    setImmediate(() => group.settle((call) => call.resolve(committed), 1));
    setImmediate(() => seen.push("next callback"));

    await nextTurn();
    await nextTurn();

    expect(seen.length).toBe(82);
    expect(seen.indexOf("next callback")).toBe(81);
    expect(seen.indexOf("settled")).toBeGreaterThan(seen.indexOf("answer 40"));
  });

  test("may all be refusals", async () => {
    const group = new CommitGroup();
    const calls = Array.from({ length: 3 }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      group.add({ writes: [], resolve, reject });
      return promise;
    });

    group.settle((call) => call.reject(new Error("The disk is full.")), 1);
    const outcomes = await Promise.allSettled(calls);

    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });
});
