import { describe, expect, test } from "vitest";
import { advanceInstance } from "../../functions/advance/handler.ts";
import { giveUp } from "../../functions/dead-letters/handler.ts";
import { fireTimer } from "../../functions/fire-timer/handler.ts";
import { perInstance } from "../../functions/middleware/per-instance.ts";
import { perMessage } from "../../functions/middleware/per-message.ts";
import { runTask } from "../../functions/run-task/handler.ts";
import { runWork } from "../../functions/run-work/handler.ts";
import { MAX_DELIVERIES, MAX_DELIVERIES_OF_DEAD } from "../../lib/definition/limits.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Message } from "../../lib/ports/message.ts";
import {
  aSignal,
  beside,
  catching,
  extensions,
  file,
  flow,
  job,
  onSignal,
  process,
  sequence,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { everyMessage } from "../support/every-message.ts";
import { aPlainWorld, type PlainWorld } from "../support/plain-world.ts";
import { aContext, aRecord, aWorkbench, failedIds } from "../support/queue-events.ts";

const work = sequence(
  xml("serviceTask", { id: "work" }, extensions(job("work", { retries: "1" }))),
);
const six = file(
  process(
    start(),
    ...["a", "b", "c", "d", "e", "f"].flatMap((id) => [
      xml("serviceTask", { id }, extensions(job("work"))),
      flow(`to-${id}`, "start", id),
    ]),
  ),
);
const waiting = sequence(catching("wait", timer("timeDuration", "PT1M")));
const listening = beside(sequence(catching("wait", onSignal("go"))), aSignal("go"));
/** What the engine itself sends to the work queue. */
const FANNED_OUT = new Set([
  ...["broadcast", "watch", "shard", "page"],
  ...["missed", "offer", "poke", "members", "cancel-members"],
]);

/** A parked message by the kind of its fact. */
function nameOf(message: Message): string {
  return message.kind === "parked" ? `parked ${message.fact.kind}` : message.kind;
}

describe("the run-task function", () => {
  test("runs the step of its task", async () => {
    const { world, bench } = await aWorld(work);
    await world.engine.start("p", { instanceId: "one" });

    const answer = await runTask(world.engine, { bench, isLong: () => false })(
      all(world),
      aContext(60_000),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(await world.engine.get("one")).toMatchObject({
      status: "succeeded",
      variables: { done: true },
    });
  });

  test("ignores a duplicate message", async () => {
    const { world, bench } = await aWorld(work);
    await world.engine.start("p", { instanceId: "one" });
    const [message] = world.queued.splice(0);
    const twice = { Records: [message, message].map((each, n) => recordOf(each, n)) };

    const answer = await runTask(world.engine, { bench, isLong: () => false })(
      twice,
      aContext(60_000),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(world.commits.filter(({ status }) => status === "succeeded")).toHaveLength(1);
  });

  test("extends the visibility of a message of the long queue while it runs", async () => {
    const { world, bench, queue } = await aWorld(work);
    await world.engine.start("p", { instanceId: "one" });

    await runTask(world.engine, { bench, isLong: () => true })(all(world), aContext(900_000));

    expect(queue.asked).toEqual(["hide m1 60"]);
  });

  test("lets no heartbeat override the fate of a message", async () => {
    const { bench, queue, time } = aWorkbench();
    const alarms: number[] = [];
    const hide: typeof queue.hide = async (record, seconds) => {
      alarms.push(time.alarms);
      await queue.hide(record, seconds);
    };
    const setAside = queue.setAside.bind(queue);
    const sendLater = queue.sendLater.bind(queue);
    const engine = { handle: async () => ({ keepForMs: 200_000 }) };

    const run = runTask(engine, {
      bench: { ...bench, queue: { hide, setAside, sendLater } },
      isLong: () => true,
    });
    const answer = await run({ Records: [aRecord(aTask)] }, aContext(900_000));

    expect(failedIds(answer)).toEqual(["m1"]);
    expect(queue.asked).toEqual(["hide m1 60", "hide m1 200"]);
    // When its fate is decided, no timer is set but the function's own deadline.
    expect(alarms[1]).toBe(1);
  });
});

describe("the fire-timer function", () => {
  test("queues an early timer again, and fires it when it is due", async () => {
    const { world, bench, queue } = await aWorld(waiting);
    const { waits } = await world.engine.start("p", { instanceId: "one" });
    const { ticket = "" } =
      world.commits.at(-1)?.tickets.map(({ id }) => ({ ticket: id }))[0] ?? {};
    const message: Message = { kind: "timer", tenant: "default", instanceId: "one", ticket };
    const fire = perMessage(fireTimer(world.engine), bench);

    await fire({ Records: [aRecord(message)] }, aContext());
    world.moveTo(world.now() + 60_000);
    await fire({ Records: [aRecord(message)] }, aContext());

    expect(waits).toHaveLength(1);
    expect(queue.asked).toEqual(["send m1 60"]);
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("sets aside a timer that was delivered too often, and the instance can be cancelled", async () => {
    const { world, bench } = await aWorld(waiting);
    await world.engine.start("p", { instanceId: "one" });
    const ticket = world.commits.at(-1)?.tickets[0]?.id ?? "";
    const message: Message = { kind: "timer", tenant: "default", instanceId: "one", ticket };
    world.moveTo(world.now() + 60_000);

    const record = aRecord(message, { receives: MAX_DELIVERIES + 1 });
    const answer = await perMessage(fireTimer(world.engine), bench)(
      { Records: [record] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect((await world.engine.get("one")).incidents).toMatchObject([{ type: "STEP_POISONED" }]);
    expect(await world.engine.cancel("one")).toEqual({ cancelled: true });
  });

  test("processes a parked fact that waited too long for its own queue", async () => {
    const { world, bench } = await aWorld(six);
    await world.engine.start("p", { instanceId: "one" });
    const fire = perMessage(fireTimer(world.engine), bench);
    await fire(all(world), aContext());
    await runTask(world.engine, { bench, isLong: () => false })(all(world), aContext());
    const parked = all(world);

    const answer = await fire(parked, aContext());

    expect(failedIds(answer)).toEqual([]);
    expect(parked.Records).toHaveLength(6);
    await world.drain();
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });
});

describe("the function of the work queue", () => {
  test("broadcasts a signal requested on the bus, once for each request id", async () => {
    const { world, bench } = await aWorld(listening);
    await world.engine.start("p", { instanceId: "one" });
    const body = JSON.stringify(anEvent("signal-requested", { name: "go", payload: { by: "us" } }));
    const fanOut = perMessage(runWork(world.engine), bench);

    await fanOut({ Records: [aRecord(body)] }, aContext());
    await fanOut({ Records: [aRecord(body)] }, aContext());
    await world.drain();

    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
    expect(await world.engine.receipt(anEvent("", {}).id)).toMatchObject({ delivered: 1 });
  });

  test("sets aside a request for an invalid signal", async () => {
    const { world, bench, queue } = await aWorld(listening);
    const body = JSON.stringify(anEvent("signal-requested", { name: "x".repeat(256) }));

    const answer = await perMessage(runWork(world.engine), bench)(
      { Records: [aRecord(body)] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["set aside m1"]);
  });
});

describe("an event that imitates an accepted broadcast", () => {
  const forged: readonly (readonly [string, object])[] = [
    ...everyMessage
      .filter(({ kind }) => kind !== "broadcast")
      .map((message) => [nameOf(message), { v: 1, ...message, instanceId: "one" }] as const),
    ["reference", { v: 1, ref: "messages/abc" }],
    ["signal-requested", anEvent("signal-requested", { name: "go" })],
    ["nothing", {}],
  ];

  test.each(forged)("is set aside and changes nothing: %s", async (_, detail) => {
    const { world, bench, queue } = await aWorld(work);
    await world.engine.start("p", { instanceId: "one" });
    const { instance, queued } = await stateOf(world);

    const answer = await perMessage(runWork(world.engine), bench)(
      { Records: [aRecord(accepted(detail))] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual([]);
    expect(queue.asked).toEqual(["set aside m1"]);
    expect(await stateOf(world)).toEqual({ instance, queued });
  });

  test("cannot complete a task whose ticket it knows", async () => {
    const { world, bench } = await aWorld(work);
    await world.engine.start("p", { instanceId: "one" });
    const [ticket] = world.commits.at(-1)?.tickets ?? [];
    const fact = { kind: "task-completed", ticket: ticket?.id ?? "", variables: {} } as const;
    const message = { kind: "parked", tenant: "default", instanceId: "one", name: "k", fact };

    await perMessage(runWork(world.engine), bench)(
      { Records: [aRecord(accepted({ v: 1, ...message }))] },
      aContext(),
    );

    expect((await world.engine.get("one")).status).toBe("running");
    // Parked in the right queue it would have: only the queue is wrong.
    await perMessage(fireTimer(world.engine), bench)(
      { Records: [aRecord(JSON.stringify({ v: 1, ...message }))] },
      aContext(),
    );
    expect((await world.engine.get("one")).status).toBe("succeeded");
  });

  test("repeats an accepted broadcast, which reaches every wait once", async () => {
    const { world, bench, queue } = await aWorld(listening);
    await world.engine.start("p", { instanceId: "one" });
    const { broadcastId } = await world.engine.signal({ name: "go", id: "b1" });
    const again = { v: 1, kind: "broadcast", tenant: "default", broadcastId };
    const body = accepted({ ...again, id: broadcastId, seq: 1, at: 5 });
    await world.drain();
    const before = world.commits.length;

    await perMessage(runWork(world.engine), bench)({ Records: [aRecord(body)] }, aContext());
    await world.drain();

    expect(queue.asked).toEqual([]);
    expect(world.commits).toHaveLength(before);
    expect(await world.engine.receipt("b1")).toMatchObject({ delivered: 1 });
  });
});

describe("the queue that receives broadcasts from the bus", () => {
  test.each(
    everyMessage
      .filter(({ kind }) => !FANNED_OUT.has(kind))
      .map((message) => [nameOf(message), message] as const),
  )("accepts nothing but parts of fan-outs: %s is set aside", async (_, message) => {
    const { world, bench, queue } = await aWorld(work);

    await perMessage(runWork(world.engine), bench)({ Records: [aRecord(message)] }, aContext());

    expect(queue.asked).toEqual(["set aside m1"]);
    expect(world.commits).toEqual([]);
  });
});

describe("the function for parked facts", () => {
  test("takes the outcomes of six tasks in one step", async () => {
    const { world, bench } = await aWorld(six);
    await world.engine.start("p", { instanceId: "one" });
    const advance = perInstance(advanceInstance(world.engine), bench);
    await advance(all(world), aContext());
    await runTask(world.engine, { bench, isLong: () => false })(all(world), aContext());
    const before = world.commits.length;
    const parked = all(world);

    const answer = await advance(parked, aContext());

    expect(failedIds(answer)).toEqual([]);
    expect(parked.Records).toHaveLength(6);
    expect(world.commits.length - before).toBe(1);
  });
});

describe("the dead-letters function", () => {
  test("fails the task, so that an incident is raised", async () => {
    const { world, bench, telemetry } = await aWorld(work);
    await world.engine.start("p", { instanceId: "one" });

    const answer = await perMessage(giveUp(world.engine, telemetry), bench)(all(world), aContext());

    expect(failedIds(answer)).toEqual([]);
    expect((await world.engine.get("one")).incidents).toMatchObject([{ element: "work" }]);
    expect(telemetry.measured.GivenUp).toEqual([1]);
  });

  test.each([
    [MAX_DELIVERIES_OF_DEAD, "JOB_NO_RETRIES"],
    [MAX_DELIVERIES_OF_DEAD + 1, "STEP_POISONED"],
  ])(
    "sets the task aside when it came %i times, because its failure cannot be stored either: %s",
    async (receives, type) => {
      const { world, bench, telemetry, queue } = await aWorld(work);
      await world.engine.start("p", { instanceId: "one" });
      const { hide, sendLater } = queue;
      const last = { hide: hide.bind(queue), sendLater: sendLater.bind(queue) };
      const [message] = world.queued.splice(0);
      if (message === undefined) throw new Error("nothing is queued");

      const answer = await perMessage(giveUp(world.engine, telemetry), { ...bench, queue: last })(
        { Records: [aRecord(message, { receives })] },
        aContext(),
      );

      expect(failedIds(answer)).toEqual([]);
      expect((await world.engine.get("one")).incidents).toMatchObject([{ element: "work", type }]);
      expect(telemetry.measured.GivenUp).toEqual([1]);
    },
  );

  test("keeps unreadable messages where they are", async () => {
    const { world, bench, telemetry, queue } = await aWorld(work);
    const { hide, sendLater } = queue;
    const last = { hide: hide.bind(queue), sendLater: sendLater.bind(queue) };

    const answer = await perMessage(giveUp(world.engine, telemetry), { ...bench, queue: last })(
      { Records: [aRecord("hello")] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["m1"]);
    expect(queue.asked).toEqual(["hide m1 42300"]);
  });

  test("sends nothing if it is not permitted to, however long a message has to wait", async () => {
    const { bench, telemetry, queue } = aWorkbench();
    const { hide, sendLater } = queue;
    const last = { hide: hide.bind(queue), sendLater: sendLater.bind(queue) };
    const engine = { giveUp: async () => ({ keepForMs: 61_000 }) };
    const record = aRecord({ ...aTask, notBefore: instantFrom(5) }, { receives: 40 });

    const answer = await perMessage(giveUp(engine, telemetry), { ...bench, queue: last })(
      { Records: [record] },
      aContext(),
    );

    expect(failedIds(answer)).toEqual(["m1"]);
    expect(queue.asked).toEqual(["hide m1 61"]);
  });
});

/** What the world stores of the one instance, and what is in progress. */
async function stateOf({ engine, queued, commits }: PlainWorld) {
  return {
    instance: await engine.get("one"),
    queued: [...queued, ...commits.map(({ version }) => version)],
  };
}

/** An event with any detail, as the rule for accepted broadcasts would deliver it. */
function accepted(detail: object): string {
  return JSON.stringify({ ...anEvent("signal-accepted", detail), source: "fermata" });
}

const aTask = {
  kind: "task",
  tenant: "default",
  instanceId: "one",
  ticket: "k1.1",
  attempt: 1,
  type: "work",
} as const;

async function aWorld(source: string) {
  const world = aPlainWorld({ tasks: { work: () => ({ done: true }) } });
  await world.engine.deploy({ notation: "bpmn", source });
  return { world, ...aWorkbench({ clock: { now: world.now, pause: async () => {} } }) };
}

/** Everything that is queued, as one batch. */
function all({ queued }: PlainWorld) {
  return { Records: queued.splice(0).map((message, n) => recordOf(message, n)) };
}

function recordOf(message: Message | undefined, n: number) {
  if (message === undefined) throw new Error("nothing is queued");
  return aRecord(message, { id: `m${n + 1}`, group: "one" });
}

/** An event as a rule sends it to a queue. */
function anEvent(type: string, detail: object) {
  return {
    version: "0",
    id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
    "detail-type": type,
    source: "shop",
    account: "123456789012",
    time: "2030-01-01T00:00:00Z",
    region: "eu-central-1",
    resources: [],
    detail,
  };
}
