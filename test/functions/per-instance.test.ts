import { describe, expect, test } from "vitest";
import { perInstance } from "../../functions/middleware/per-instance.ts";
import { MAX_DELIVERIES, MAX_DELIVERIES_TOGETHER } from "../../lib/definition/limits.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";
import type { AnyParked, Invocation, Verdict } from "../../lib/ports/message.ts";
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

  test("are redelivered with their whole group, in their order, when the step failed", async () => {
    const { bench, queue } = aWorkbench();
    const handle = async (messages: readonly AnyParked[]): Promise<readonly Verdict[]> => {
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

  test("are taken one by one after a failure together: only the cause is redelivered", async () => {
    const { bench, queue, telemetry } = aWorkbench();
    const taken: string[][] = [];
    const record = recording(taken);
    const handle: typeof record = async (messages, invocation) => {
      if (messages.some(({ name }) => name === "x2")) throw new Error("cannot be taken");
      return record(messages, invocation);
    };

    const answer = await perInstance(handle, bench)(
      records(["a", "x1"], ["a", "x2"], ["a", "x3"]),
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["m2"]);
    expect(queue.asked).toEqual(["hide m2 2"]);
    expect(taken).toEqual([["a x1"], ["a x3"]]);
    expect(telemetry.measured.Failures).toEqual([1]);
  });

  test("that were delivered often are taken one by one, and set aside after the eighth delivery", async () => {
    const { bench } = aWorkbench();
    const taken: (readonly [names: string, aside: boolean])[] = [];
    const handle = async (messages: readonly AnyParked[], { aside }: Invocation) => {
      taken.push([messages.map(({ name }) => name).join(" "), aside !== undefined]);
      return messages.map((): Verdict => "release");
    };
    const three = (receives: number) => {
      const { Records } = records(["a", "x1"], ["a", "x2"], ["a", "x3"]);
      const attributes = { ApproximateReceiveCount: String(receives) };
      return {
        Records: Records.map((it) => ({ ...it, attributes: { ...it.attributes, ...attributes } })),
      };
    };

    for (const receives of [MAX_DELIVERIES_TOGETHER, MAX_DELIVERIES, MAX_DELIVERIES + 1]) {
      await perInstance(handle, bench)(three(receives), aContext());
    }

    expect(taken[0]).toEqual(["x1 x2 x3", false]);
    const apart = (isAside: boolean) => ["x1", "x2", "x3"].map((name) => [name, isAside]);
    expect(taken.slice(1, 4).sort()).toEqual(apart(false));
    expect(taken.slice(4).sort()).toEqual(apart(true));
  });

  test("without a possible effect are set aside once, and dropped", async () => {
    const { bench, queue } = aWorkbench();
    const hopeless = new EngineError("request/invalid", {
      happened: "It is wrong",
      where: "here",
      fix: "Mend it.",
      retryable: false,
    });

    const answer = await perInstance(() => Promise.reject(hopeless), bench)(
      records(["a", "x1"], ["a", "x2"]),
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["set aside m1", "set aside m2"]);
  });

  test("that are kept are redelivered together", async () => {
    const { bench, queue } = aWorkbench();
    const verdicts: readonly Verdict[] = ["release", { keepForMs: 4_000 }, { keepForMs: 1_200 }];

    const answer = await perInstance(async () => verdicts, bench)(
      records(["a", "x1"], ["a", "x2"], ["a", "x3"]),
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["m2", "m3"]);
    expect(queue.asked).toEqual(["hide m2 4", "hide m3 4"]);
  });

  test("that have to wait for long do so in another queue: their group continues", async () => {
    const { bench, queue } = aWorkbench();
    const verdicts: readonly Verdict[] = [{ keepForMs: 840_000 }, "release"];

    const answer = await perInstance(async () => verdicts, bench)(
      records(["a", "x1"], ["a", "x2"]),
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["send m1 840"]);
  });

  test("that are kept repeatedly are never set aside", async () => {
    const { bench, queue, time } = aWorkbench();
    const busy = perInstance(async (messages) => messages.map(() => ({ keepForMs: 100 })), bench);
    const came: boolean[] = [];

    for (let receives = 1; receives <= 4; receives++) {
      const record = aRecord(parked("a", "x1"), { receives, group: "a", queue: "steps.fifo" });
      const answering = busy({ Records: [record] }, aContext());
      await time.pass(1_000);
      came.push(failedIds(await answering).length > 0);
    }

    expect(queue.asked).toEqual(["hide m1 1", "hide m1 2", "hide m1 5", "send m1 10"]);
    expect(came).toEqual([true, true, true, false]);
  });

  test("that did not fit are taken next, in the same delivery", async () => {
    const { bench, queue, time } = aWorkbench();
    const taken: string[][] = [];
    const record = recording(taken);
    const oneByOne: typeof record = async (messages, invocation) => {
      const [first] = await record(messages.slice(0, 1), invocation);
      return messages.map((_, n) => (n === 0 && first ? first : { keepForMs: 0 }));
    };

    const answering = perInstance(oneByOne, bench)(
      records(["a", "x1"], ["a", "x2"], ["a", "x3"]),
      aContext(),
    );
    await time.pass(1_000);

    expect(failedIds(await answering)).toEqual([]);
    expect(taken).toEqual([["a x1"], ["a x2"], ["a x3"]]);
    expect(queue.asked).toEqual([]);
  });

  test("continue after an unreadable one", async () => {
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
    messages: readonly AnyParked[],
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
      aRecord(parked(instanceId, name), {
        id: `m${n + 1}`,
        group: instanceId,
        queue: "steps.fifo",
      }),
    ),
  };
}

function parked(instanceId: string, name: string): AnyParked {
  return { kind: "owed", tenant: "default", instanceId, name };
}
