import { describe, expect, test } from "vitest";
import { perMessage } from "../../functions/middleware/per-message.ts";
import { currentTrace } from "../../functions/middleware/trace.ts";
import { MAX_DELIVERIES, MAX_DELIVERIES_TOGETHER } from "../../lib/definition/limits.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";
import type { Invocation, Message, TaskMessage, Verdict } from "../../lib/ports/message.ts";
import { messageText } from "../../lib/ports/message-text.ts";
import { aBatch, aContext, aRecord, aWorkbench, failedIds } from "../support/queue-events.ts";

const release = async (): Promise<Verdict> => "release";

describe("a batch of messages", () => {
  test("is deleted when everything in it is released", async () => {
    const { bench, queue } = aWorkbench();

    const answer = await perMessage(release, bench)(aBatch(aTask("a"), aTask("b")), aContext());

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual([]);
  });

  test("returns the one of ten that failed, and no other", async () => {
    const { bench, queue, telemetry } = aWorkbench();
    const instances = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    const handle = async (message: { kind: string }) => {
      if ((message as TaskMessage).instanceId === "d") throw new Error("store is away");
      return "release" as const;
    };

    const answer = await perMessage(handle, bench)(aBatch(...instances.map(aTask)), aContext());

    expect(failedIds(answer)).toEqual(["m4"]);
    expect(queue.asked).toEqual(["hide m4 2"]);
    expect(telemetry.measured.Failures).toEqual([1]);
  });

  test("is processed concurrently", async () => {
    const { bench } = aWorkbench();
    const both = Promise.withResolvers<Verdict>();
    let running = 0;
    const handle = () => {
      running += 1;
      if (running === 2) both.resolve("release");
      return both.promise;
    };

    const answer = await perMessage(handle, bench)(aBatch(aTask("a"), aTask("b")), aContext());

    expect(failedIds(answer)).toEqual([]);
  });

  test("responds before its time is over, and returns what is not done by then", async () => {
    const { bench, time, queue } = aWorkbench();
    const handle = (message: { kind: string }) =>
      (message as TaskMessage).instanceId === "slow"
        ? new Promise<Verdict>(() => {})
        : Promise.resolve<Verdict>("release");

    const answering = perMessage(handle, bench)(
      aBatch(aTask("quick"), aTask("slow")),
      aContext(30_000),
    );
    await time.pass(29_000);

    expect(failedIds(await answering)).toEqual(["m2"]);
    // It may still be running: its message stays hidden for its queue's visibility timeout.
    expect(queue.asked).toEqual([]);
  });
});

describe("messages that were delivered often", () => {
  const receives = MAX_DELIVERIES_TOGETHER + 1;

  test("are handled one after the other, after the others of their batch", async () => {
    const { bench } = aWorkbench();
    const seen: string[] = [];
    const handle = async (message: { kind: string }): Promise<Verdict> => {
      const { instanceId } = message as TaskMessage;
      seen.push(`begin ${instanceId}`);
      await Promise.resolve();
      seen.push(`end ${instanceId}`);
      return "release";
    };
    const Records = [
      aRecord(aTimer("often-1"), { id: "m1", receives }),
      aRecord(aTimer("new"), { id: "m2", receives: MAX_DELIVERIES_TOGETHER }),
      aRecord(aTimer("often-2"), { id: "m3", receives }),
    ];

    const answer = await perMessage(handle, bench)({ Records }, aContext());

    expect(failedIds(answer)).toEqual([]);
    expect(seen.slice(0, 2)).toEqual(["begin new", "end new"]);
    const [first, second, third, fourth] = seen.slice(2);
    expect([second, fourth]).toEqual([first, third].map((it) => it?.replace("begin", "end")));
  });

  test("take turns in going first, so that none always waits behind one that crashes", async () => {
    const { bench } = aWorkbench();
    const firsts = new Set<string>();
    const deadly = async (message: { kind: string }): Promise<Verdict> => {
      firsts.add((message as TaskMessage).instanceId);
      return new Promise(() => {});
    };

    for (let n = receives; n <= MAX_DELIVERIES; n++) {
      const Records = ["a", "b"].map((id) => aRecord(aTimer(id), { id, receives: n }));
      void perMessage(deadly, bench)({ Records }, aContext());
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect([...firsts].sort()).toEqual(["a", "b"]);
  });

  test.each([
    [MAX_DELIVERIES, undefined],
    [MAX_DELIVERIES + 1, /delivered 9 times/],
  ])("are to be set aside after the eighth delivery: %i", async (times, aside) => {
    const { bench, telemetry } = aWorkbench();
    const seen: (string | undefined)[] = [];
    const handle = async (_: unknown, invocation: Invocation): Promise<Verdict> => {
      seen.push(invocation.aside);
      return "release";
    };
    const timer = aRecord(aTimer("a"), { receives: times });
    const task = aRecord(aTask("b"), { id: "m2", receives: times });

    await perMessage(handle, bench)({ Records: [timer] }, aContext());
    await perMessage(handle, bench, { mayContinue: true })({ Records: [task] }, aContext());

    const [ofTimer, ofTask] = seen;
    expect(ofTimer).toEqual(aside === undefined ? undefined : expect.stringMatching(aside));
    // A task has failed when it is a dead letter.
    expect(ofTask).toBeUndefined();
    expect(telemetry.measured.GivenUp ?? []).toEqual(aside === undefined ? [] : [1]);
  });
});

describe("a message", () => {
  test("is handled under its own invocation id, until shortly before the function ends", async () => {
    const { bench, time } = aWorkbench();
    const seen: Invocation[] = [];
    const handle = async (_: unknown, invocation: Invocation): Promise<Verdict> => {
      seen.push(invocation);
      return "release";
    };
    const batch = perMessage(handle, bench, { mayContinue: true });

    await batch(aBatch(aTask("a"), aTask("b")), aContext(30_000));
    await batch(aBatch(aTask("a")), aContext(30_000));

    expect(new Set(seen.map(({ id }) => id)).size).toBe(3);
    expect(seen[0]).toMatchObject({ until: time.now() + 29_000, mayContinue: true });
  });

  test("with another owner is hidden until that owner's lease expires", async () => {
    const { bench, queue, telemetry } = aWorkbench();
    const answer = await perMessage(kept(12_300), bench)(aBatch(aTask("a")), aContext());

    expect(failedIds(answer)).toEqual(["m1"]);
    expect(queue.asked).toEqual(["hide m1 13"]);
    expect(telemetry.measured.Kept).toEqual([1]);
  });

  test("is never hidden for longer than a queue allows", async () => {
    const { bench, queue } = aWorkbench();
    await perMessage(kept(90_000_000), bench)(aBatch(aTask("a")), aContext());

    expect(queue.asked).toEqual(["hide m1 42300"]);
  });

  test("that is kept ten times in a row is never set aside", async () => {
    const { bench, queue, time } = aWorkbench();
    const busy = perMessage(kept(100), bench);
    const came: boolean[] = [];

    for (let receives = 1; receives <= 5; receives++) {
      const answering = busy({ Records: [aRecord(aTask("a"), { receives })] }, aContext());
      await time.pass(1_000);
      came.push(failedIds(await answering).length > 0);
    }

    expect(queue.asked).toEqual([
      "hide m1 1",
      "hide m1 2",
      "hide m1 5",
      "hide m1 10",
      "send m1 30",
    ]);
    expect(came).toEqual([true, true, true, true, false]);
  });

  test("is not waited for if the function has no more time", async () => {
    const { bench, queue } = aWorkbench();
    await perMessage(kept(100), bench)(aBatch(aTask("a")), aContext(1_500));

    expect(queue.asked).toEqual(["hide m1 1"]);
  });

  test.each([
    ["a timer", aTimer("a")],
    ["a task that is to be tried later", { ...aTask("a"), notBefore: instantFrom(1) }],
  ])("that is early by a second or more is queued again: %s", async (_, message) => {
    const { bench, queue } = aWorkbench();
    const answer = await perMessage(kept(61_001), bench)(aBatch(message), aContext());

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["send m1 62"]);
  });

  test("that is early by more than the maximum delay is queued with that delay", async () => {
    const { bench, queue } = aWorkbench();
    await perMessage(kept(86_400_000), bench)(aBatch(aTimer("a")), aContext());

    expect(queue.asked).toEqual(["send m1 900"]);
  });

  test("stays when its copy could not be queued", async () => {
    const { bench, queue } = aWorkbench();
    queue.failure = new Error("no way there");

    const answer = await perMessage(kept(5_000), bench)(aBatch(aTimer("a")), aContext());

    expect(failedIds(answer)).toEqual(["m1"]);
  });

  test("that is early by less than a second is waited for", async () => {
    const { bench, time, queue } = aWorkbench();
    const dueAt = time.now() + 400;
    const handle = async (): Promise<Verdict> =>
      time.now() >= dueAt ? "release" : { keepForMs: dueAt - time.now() };

    const answering = perMessage(handle, bench)(aBatch(aTimer("a")), aContext());
    await time.pass(400);

    expect(failedIds(await answering)).toEqual([]);
    expect(queue.asked).toEqual([]);
  });

  test("is not waited for repeatedly", async () => {
    const { bench, time, queue } = aWorkbench();
    const answering = perMessage(kept(10), bench)(aBatch(aTimer("a")), aContext());
    await time.pass(1_000);

    expect(failedIds(await answering)).toEqual(["m1"]);
    expect(queue.asked).toEqual(["hide m1 1"]);
  });

  test.each([
    ["no JSON", "hello"],
    ["no message", '{"v":1,"kind":"dance"}'],
    ["one without its parts", '{"v":1,"kind":"timer","tenant":"default"}'],
  ])("that is unreadable is set aside at once: %s", async (_, body) => {
    const { bench, queue, telemetry } = aWorkbench();
    const answer = await perMessage(release, bench)(aBatch(body, aTask("a")), aContext());

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["set aside m1"]);
    expect(telemetry.measured.SetAside).toEqual([1]);
  });

  test("that is unreadable stays if it cannot be set aside", async () => {
    const { bench, queue } = aWorkbench();
    queue.failure = new Error("no way there");

    const answer = await perMessage(release, bench)(aBatch("hello"), aContext());

    expect(failedIds(answer)).toEqual(["m1"]);
  });

  test("of a newer format waits for its reader", async () => {
    const { bench, queue } = aWorkbench();
    const answer = await perMessage(release, bench)(aBatch('{"v":99,"kind":"dance"}'), aContext());

    expect(failedIds(answer)).toEqual(["m1"]);
    expect(queue.asked).toEqual(["hide m1 2"]);
  });

  test.each([
    [1, ["hide m1 2"]],
    [2, ["hide m1 10"]],
    [3, ["hide m1 30"]],
    [4, []],
    [10, []],
  ])("that failed %i times is redelivered with a suitable delay", async (receives, asked) => {
    const { bench, queue } = aWorkbench();
    const failing = () => Promise.reject(new EngineError("store/read-failed", anExplanation));

    const answer = await perMessage(failing, bench)(
      { Records: [aRecord(aTask("a"), { receives })] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["m1"]);
    expect(queue.asked).toEqual(asked);
  });

  test("belongs to the trace of its sender", async () => {
    const { bench } = aWorkbench();
    const trace = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const seen: (string | undefined)[] = [];
    const handle = async (): Promise<Verdict> => {
      seen.push(currentTrace()?.traceId);
      return "release";
    };

    await perMessage(handle, bench)({ Records: [aRecord(aTask("a"), { trace })] }, aContext());

    expect(seen).toEqual(["a".repeat(32)]);
  });

  test("belongs to the trace in its body, if the queue cannot carry one", async () => {
    const { bench } = aWorkbench();
    const body = messageText(aTask("a"), `00-${"c".repeat(32)}-${"d".repeat(16)}-01`);
    const seen: (string | undefined)[] = [];
    const handle = async (): Promise<Verdict> => {
      seen.push(currentTrace()?.traceId);
      return "release";
    };

    await perMessage(handle, bench)({ Records: [aRecord(body)] }, aContext());

    expect(seen).toEqual(["c".repeat(32)]);
  });

  test("is logged by its instance, and never with its contents", async () => {
    const { bench, telemetry } = aWorkbench();
    const parked: Message = {
      kind: "parked",
      tenant: "default",
      instanceId: "order-1",
      name: "k1.1/1",
      fact: { kind: "task-completed", ticket: "k1.1", variables: { card: "4111" } },
    };

    await perMessage(release, bench)(aBatch(parked), aContext());

    expect(telemetry.lines[0]).toMatchObject({
      name: "message-done",
      fields: { instanceId: "order-1", fact: "task-completed" },
    });
    expect(JSON.stringify(telemetry.lines)).not.toContain("4111");
  });
});

const kept = (keepForMs: number) => async (): Promise<Verdict> => ({ keepForMs });

function aTask(instanceId: string): TaskMessage {
  return { kind: "task", tenant: "default", instanceId, ticket: "k1.1", attempt: 1, type: "pay" };
}

function aTimer(instanceId: string): Message {
  return { kind: "timer", tenant: "default", instanceId, ticket: "t1.1" };
}

const anExplanation = { happened: "It is away", where: "here", fix: "Wait.", retryable: true };
