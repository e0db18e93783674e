import { describe, expect, test } from "vitest";
import { type Parked, perInstance } from "../../functions/middleware/per-instance.ts";
import type { Invocation, Verdict } from "../../lib/ports/message.ts";
import { aContext, aRecord, aWorkbench, failedIds } from "../support/queue-events.ts";

describe("messages that are parked", () => {
  test("are taken together for one instance, in their order", async () => {
    const { bench } = aWorkbench();
    const taken: string[][] = [];
    const handle = recording(taken);

    const answer = await perInstance(handle, bench)(
      records(["a", "x1"], ["b", "y1"], ["a", "x2"], ["a", "x3"], ["b", "y2"]),
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(taken.sort()).toEqual([
      ["a x1", "a x2", "a x3"],
      ["b y1", "b y2"],
    ]);
  });

  test("come back with their whole group, in their order, when the step failed", async () => {
    const { bench, queue } = aWorkbench();
    const handle = async (messages: readonly Parked[]): Promise<readonly Verdict[]> => {
      if (messages[0]?.instanceId === "a") throw new Error("store is away");
      return messages.map(() => "release");
    };

    const answer = await perInstance(handle, bench)(
      records(["a", "x1"], ["b", "y1"], ["a", "x2"]),
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["m1", "m3"]);
    expect(queue.asked).toEqual(["hide m1 2", "hide m3 2"]);
  });

  test("that are kept come back together, when the first of them may", async () => {
    const { bench, queue } = aWorkbench();
    const verdicts: readonly Verdict[] = ["release", { keepForMs: 9_000 }, { keepForMs: 1_200 }];

    const answer = await perInstance(async () => verdicts, bench)(
      records(["a", "x1"], ["a", "x2"], ["a", "x3"]),
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["m2", "m3"]);
    expect(queue.asked).toEqual(["hide m2 2", "hide m3 2"]);
  });

  test("for which there was no room come back at once", async () => {
    const { bench, queue } = aWorkbench();
    const verdicts: readonly Verdict[] = ["release", { keepForMs: 0 }];

    await perInstance(async () => verdicts, bench)(records(["a", "x1"], ["a", "x2"]), aContext());

    expect(queue.asked).toEqual(["hide m2 0"]);
  });

  test("go on behind one that nobody can read", async () => {
    const { bench, queue } = aWorkbench();
    const taken: string[][] = [];
    const { Records } = records(["a", "x1"], ["a", "x2"]);
    const broken = aRecord("hello", { id: "broken", group: "a" });

    const answer = await perInstance(recording(taken), bench)(
      { Records: [...Records.slice(0, 1), broken, ...Records.slice(1)] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["set aside broken"]);
    expect(taken).toEqual([["a x1", "a x2"]]);
  });

  test("do not overtake one of a newer format", async () => {
    const { bench } = aWorkbench();
    const taken: string[][] = [];
    const { Records } = records(["a", "x1"], ["a", "x2"]);
    const newer = aRecord('{"v":99}', { id: "newer", group: "a" });

    const answer = await perInstance(recording(taken), bench)(
      { Records: [...Records.slice(0, 1), newer, ...Records.slice(1)] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["newer", "m2"]);
    expect(taken).toEqual([["a x1"]]);
  });

  test("that came through the wrong queue are set aside", async () => {
    const { bench, queue } = aWorkbench();
    const timer = { kind: "timer", tenant: "default", instanceId: "a", ticket: "t1.1" } as const;

    const answer = await perInstance(recording([]), bench)(
      { Records: [aRecord(timer, { group: "a" })] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["set aside m1"]);
  });

  test("of two instances are never mixed, even if a sender put them in one group", async () => {
    const { bench } = aWorkbench();
    const taken: string[][] = [];

    await perInstance(recording(taken), bench)(
      {
        Records: [
          aRecord(parked("a", "x1"), { id: "m1", group: "same" }),
          aRecord(parked("b", "y1"), { id: "m2", group: "same" }),
        ],
      },
      aContext(),
    );

    expect(taken).toEqual([["a x1"], ["b y1"]]);
  });
});

function recording(taken: string[][]) {
  return async (
    messages: readonly Parked[],
    { mayContinue }: Invocation,
  ): Promise<readonly Verdict[]> => {
    expect(mayContinue).toBe(false);
    taken.push(messages.map(({ instanceId, name }) => `${instanceId} ${name}`));
    return messages.map(() => "release");
  };
}

function records(...named: readonly (readonly [string, string])[]) {
  return {
    Records: named.map(([instanceId, name], n) =>
      aRecord(parked(instanceId, name), { id: `m${n + 1}`, group: instanceId }),
    ),
  };
}

function parked(instanceId: string, name: string): Parked {
  return { kind: "owed", tenant: "default", instanceId, name };
}
