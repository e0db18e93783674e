import { describe, expect, onTestFinished, test } from "vitest";
import {
  MAX_NAME_LENGTH,
  MAX_PAYLOAD_BYTES,
  MAX_ROWS_IN_CALL,
  ROWS_PER_PAGE,
} from "../../lib/definition/limits.ts";
import { serveEngine } from "../../lib/embedded/index.ts";
import { checkedApi, sendTo } from "../support/api-client.ts";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  catching,
  end,
  file,
  flow,
  ioMapping,
  job,
  onMessage,
  onSignal,
  process,
  sequence,
  service,
  start,
  throwing,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";
import { leftBy, NOTHING_LEFT } from "../support/left-in-store.ts";

const approval = beside(sequence(catching("wait", onSignal("approved"))), aSignal("approved"));

describe("a signal", () => {
  test("F30 resumes a catch event by a call, and its payload becomes variables", async () => {
    const engine = await anEngine({ source: approval });
    const { instanceId } = await engine.start("p");
    const answer = await engine.signal("approved", { by: "me" });
    expect(answer).toMatchObject({ deliveredCount: 1, startedCount: 0 });
    await expect(engine.result(instanceId)).resolves.toMatchObject({
      status: "succeeded",
      variables: { by: "me" },
    });
    await engine.idle();
    await expect(engine.receipt(answer.broadcastId)).resolves.toMatchObject({
      name: "approved",
      complete: true,
      matched: 1,
      delivered: 1,
      skipped: 0,
      failed: [],
    });
  });

  test("F31 F37 is thrown by one workflow, which continues at once, and caught by another", async () => {
    const thrower = file(
      xml(
        "process",
        { id: "thrower", isExecutable: "true" },
        start(),
        throwing(
          "shout",
          onSignal("approved"),
          ioMapping(xml("zeebe:input", { source: "=who", target: "by" })),
        ),
        end(),
        flow("f1", "start", "shout"),
        flow("f2", "shout", "end"),
      ),
    );
    const engine = await anEngine({ source: approval });
    await engine.deploy(beside(thrower, aSignal("approved")));
    const waiting = await engine.start("p");
    const throwing_ = await engine.start("thrower", { variables: { who: "them" } });
    await expect(engine.result(throwing_.instanceId)).resolves.toMatchObject({
      status: "succeeded",
    });
    await expect(engine.result(waiting.instanceId)).resolves.toMatchObject({
      variables: { by: "them" },
    });
  });

  test("F33 resumes every wait, and counts them correctly", async () => {
    const engine = await anEngine({ source: approval });
    for (let n = 0; n < 150; n++) await engine.start("p", { instanceId: `i${n}` });
    await expect(engine.signal("approved")).resolves.toMatchObject({ deliveredCount: 150 });
    await engine.idle();
    const { items } = await engine.list({ status: "suspended", limit: 200 });
    expect(items).toEqual([]);
  });

  test("F33 to more waits than a call delivers to is answered at once, and its receipt completes", async () => {
    const engine = await anEngine({ source: approval });
    for (let n = 0; n < 450; n++) await engine.start("p", { instanceId: `i${n}` });
    const answer = await engine.signal("approved", {}, { id: "many" });
    expect(answer).toEqual({ broadcastId: "many" });
    await engine.idle();
    await expect(engine.receipt("many")).resolves.toMatchObject({
      complete: true,
      matched: 450,
      delivered: 450,
    });
  });

  test("F40 without a wait is counted as 0", async () => {
    const engine = await anEngine();
    await expect(engine.signal("nobody")).resolves.toMatchObject({ deliveredCount: 0 });
  });

  test("F34 F35 on a boundary interrupts its host, and closes all other waits of the host", async () => {
    const source = beside(
      sequence(
        service("work"),
        boundary("stop", "work", onSignal("approved")),
        boundary("late", "work", timer("timeDuration", "PT1H")),
        end("stopped"),
        end("later"),
        flow("f3", "stop", "stopped"),
        flow("f4", "late", "later"),
      ),
      aSignal("approved"),
    );
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");
    await engine.signal("approved");
    await expect(engine.result(instanceId)).resolves.toMatchObject({ status: "succeeded" });
    expect((await engine.get(instanceId)).completedElements).toContain("stopped");
    expect((await engine.tasks()).items).toEqual([]);
    await engine.idle();
    // F36: the wait is closed, and its row is removed.
    await expect(engine.signal("approved")).resolves.toMatchObject({ deliveredCount: 0 });
  });

  test("F39 from before the wait is not for it", async () => {
    const engine = await anEngine({ source: approval });
    await engine.signal("approved");
    const { instanceId } = await engine.start("p");
    expect((await engine.waits(instanceId)).items).toMatchObject([
      {
        kind: "signal",
        name: "approved",
        wakeWith: { method: "POST", path: "/v1/signals", body: { name: "approved" } },
      },
    ]);
    await engine.signal("approved");
    await expect(engine.result(instanceId)).resolves.toMatchObject({ status: "succeeded" });
    expect(await trailOf(engine, instanceId)).toContain("signal-received wait");
  });
});

describe("a workflow that throws a signal", () => {
  const signal = aSignal("again");

  test("F32 F37 does not catch its own on the same path, but catches the next", async () => {
    const dataDir = aDataDir();
    const source = beside(
      file(
        process(
          start(),
          throwing("shout", onSignal("again")),
          catching("wait", onSignal("again")),
          end(),
          flow("f1", "start", "shout"),
          flow("f2", "shout", "wait"),
          flow("f3", "wait", "end"),
        ),
      ),
      signal,
    );
    const engine = await anEngine({ dataDir, source });
    const { instanceId } = await engine.start("p");
    await engine.idle();

    expect((await engine.get(instanceId)).activeElements).toEqual(["wait"]);
    expect(await engine.signal("again")).toMatchObject({ deliveredCount: 1 });
    expect((await engine.get(instanceId)).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test.each([
    ["the branch that throws comes first", ["shout", "wait"]],
    ["the branch that waits comes first", ["wait", "shout"]],
  ])("F32 is caught by a parallel branch of its own, when %s", async (_, branches) => {
    const dataDir = aDataDir();
    const source = beside(
      file(
        process(
          start(),
          throwing("shout", onSignal("again")),
          catching("wait", onSignal("again")),
          end(),
          ...branches.map((to) => flow(`to-${to}`, "start", to)),
          ...branches.map((from) => flow(`of-${from}`, from, "end")),
        ),
      ),
      signal,
    );
    const engine = await anEngine({ dataDir, source });
    const { instanceId } = await engine.start("p");

    await expect(engine.result(instanceId)).resolves.toMatchObject({ status: "succeeded" });
    const trail = await trailOf(engine, instanceId);
    expect(trail.filter((line) => line === "signal-received wait")).toHaveLength(1);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F41 from an end event reaches waits, with the payload of the end event", async () => {
    const dataDir = aDataDir();
    const payload = ioMapping(xml("zeebe:input", { source: "=who", target: "by" }));
    const shouting = xml(
      "endEvent",
      { id: "end" },
      xml("extensionElements", {}, payload),
      onSignal("approved"),
    );
    const thrower = beside(
      file(
        xml(
          "process",
          { id: "thrower", isExecutable: "true" },
          start(),
          shouting,
          flow("f1", "start", "end"),
        ),
      ),
      aSignal("approved"),
    );
    const engine = await anEngine({ dataDir, source: approval });
    await engine.deploy(thrower);
    const waiting = await engine.start("p");

    const thrown = await engine.start("thrower", { variables: { who: "them" } });

    await expect(engine.result(thrown.instanceId)).resolves.toMatchObject({ status: "succeeded" });
    const { variables } = await engine.result(waiting.instanceId);
    expect(variables).toEqual({ by: "them" });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("a signal boundary event", () => {
  const guarded = (signal: Readonly<Record<string, string>> = {}) =>
    beside(
      sequence(
        service("work"),
        boundary("stop", "work", onSignal("halt"), signal),
        boundary("late", "work", timer("timeDuration", "PT1H")),
        boundary("paid", "work", onMessage("payment")),
        ...["stop", "late", "paid"].flatMap((id) => [
          end(`${id}-end`),
          flow(`${id}-on`, id, `${id}-end`),
        ]),
      ),
      aSignal("halt"),
      aMessage("payment", { key: "=order" }),
    );
  const variables = { order: "o-1" };
  const wins = [
    ["the signal", "stop-end", (engine: Engine) => engine.signal("halt")],
    ["the timer", "late-end", (engine: Engine) => engine.advanceClock("PT1H")],
    [
      "the message",
      "paid-end",
      (engine: Engine) => engine.message({ name: "payment", correlationKey: "o-1" }),
    ],
    [
      "the task",
      "end",
      async (engine: Engine) => {
        const { items } = await engine.tasks();
        await engine.complete(items[0]?.taskId ?? "");
      },
    ],
  ] as const;

  test.each(wins)(
    "F35 F36 F65 is closed with all others when %s comes first",
    async (_, at, win) => {
      const dataDir = aDataDir();
      const engine = await anEngine({ dataDir, source: guarded() });
      const { instanceId } = await engine.start("p", { variables });
      expect((await engine.waits(instanceId)).items.map(({ kind }) => kind).sort()).toEqual([
        "message",
        "signal",
        "task",
        "timer",
      ]);

      await win(engine);

      const { completedElements, status, waits } = await engine.get(instanceId);
      const ends = completedElements.filter((id) => id.endsWith("end"));
      expect({ ends, status, waits }).toEqual({ ends: [at], status: "succeeded", waits: [] });
      // F36: what comes too late finds no wait.
      await engine.idle();
      expect(await engine.signal("halt")).toMatchObject({ deliveredCount: 0 });
      const late = engine.message({ name: "payment", correlationKey: "o-1", timeToLive: "PT0S" });
      await expect(late).rejects.toMatchObject({ code: "message/no-waiter" });
      expect(await engine.advanceClock("PT2H")).toMatchObject({ fired: 0, left: [] });
      expect((await engine.tasks()).items).toEqual([]);
      expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
    },
  );

  test("F34 that does not interrupt fires for every broadcast, and is closed with its host", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: guarded({ cancelActivity: "false" }) });
    const { instanceId } = await engine.start("p", { variables });

    for (const n of [1, 2, 3]) {
      expect(await engine.signal("halt", { n })).toMatchObject({ deliveredCount: 1 });
      expect((await engine.get(instanceId)).status).toBe("suspended");
    }
    // Nothing is delivered twice, however often the same broadcast is sent.
    await engine.idle();
    const again = await engine.signal("halt", { n: 4 }, { id: "four" });
    await engine.idle();
    expect(await engine.signal("halt", { n: 4 }, { id: "four" })).toEqual(again);
    await engine.idle();
    const trail = await trailOf(engine, instanceId);
    expect(trail.filter((line) => line === "signal-received stop")).toHaveLength(4);
    expect(trail.filter((line) => line === "element-completed stop-end")).toHaveLength(4);

    const { items } = await engine.tasks();
    await engine.complete(items[0]?.taskId ?? "");
    await expect(engine.result(instanceId)).resolves.toMatchObject({ variables: { n: 4 } });
    expect(await engine.signal("halt")).toMatchObject({ deliveredCount: 0 });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("a broadcast to several", () => {
  const gate = beside(
    file(
      process(
        start(),
        catching("wait", onSignal("approved")),
        xml("exclusiveGateway", { id: "which" }),
        end(),
        flow("f1", "start", "wait"),
        flow("f2", "wait", "which"),
        flow("f3", "which", "end", "=good"),
        flow("f4", "which", "end", "=odd"),
      ),
    ),
    aSignal("approved"),
  );

  test("F38 is blocked by no failing instance, and its receipt names those that failed", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: gate });
    for (const [instanceId, good] of [
      ["one", true],
      ["bad", false],
      ["two", true],
    ] as const) {
      await engine.start("p", { instanceId, variables: { good, odd: false } });
    }

    const answer = await engine.signal("approved");
    await engine.idle();

    for (const id of ["one", "two"]) expect((await engine.get(id)).status).toBe("succeeded");
    const { incidents, status } = await engine.get("bad");
    expect({ status, incidents }).toMatchObject({
      status: "suspended",
      incidents: [{ type: "CONDITION_ERROR" }],
    });
    expect(answer).toMatchObject({ deliveredCount: 2, startedCount: 0 });
    expect(await engine.receipt(answer.broadcastId)).toMatchObject({
      complete: true,
      matched: 3,
      delivered: 2,
      failed: [{ instanceId: "bad", incidentId: incidents[0]?.incidentId }],
    });

    // F36: the failed one has also taken it: it waits for nothing but the resolution of its
    // incident.
    expect(await engine.signal("approved")).toMatchObject({ deliveredCount: 0 });
    const incidentId = incidents[0]?.incidentId ?? "";
    await engine.resolveIncident("bad", incidentId, { variables: { good: true } });
    expect((await engine.get("bad")).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F33 F38 names the failed instances in the receipt of a large one too", async () => {
    const engine = await anEngine({ source: gate });
    const count = MAX_ROWS_IN_CALL + 1;
    for (let n = 0; n < count; n++) {
      await engine.start("p", { instanceId: `i${n}`, variables: { good: n !== 7, odd: false } });
    }

    const answer = await engine.signal("approved");
    await engine.idle();

    expect(Object.keys(answer)).toEqual(["broadcastId"]);
    const incidentId = (await engine.get("i7")).incidents[0]?.incidentId;
    expect(await engine.receipt(answer.broadcastId)).toMatchObject({
      complete: true,
      matched: count,
      delivered: count - 1,
      failed: [{ instanceId: "i7", incidentId }],
    });
  });

  test("F39 is not for a wait that opens after it was answered, although it is still being delivered", async () => {
    const engine = await anEngine({ source: approval });
    for (let n = 0; n <= MAX_ROWS_IN_CALL; n++) await engine.start("p", { instanceId: `i${n}` });

    const answer = await engine.signal("approved", {}, { id: "first" });
    await engine.start("p", { instanceId: "late" });
    await engine.idle();

    expect(answer).toEqual({ broadcastId: "first" });
    expect((await engine.get("late")).status).toBe("suspended");
    expect((await engine.list({ status: "suspended" })).items).toHaveLength(1);
    expect(await engine.receipt("first")).toMatchObject({ delivered: MAX_ROWS_IN_CALL + 1 });
    expect(await engine.signal("approved")).toMatchObject({ deliveredCount: 1 });
  });

  test("F39 reaches an instance that waits in a loop once, however quickly it waits again", async () => {
    const source = beside(
      file(
        process(
          start(),
          catching("wait", onSignal("approved")),
          xml("exclusiveGateway", { id: "which", default: "f4" }),
          end(),
          flow("f1", "start", "wait"),
          flow("f2", "wait", "which"),
          flow("f3", "which", "wait", "=not(done)"),
          flow("f4", "which", "end"),
        ),
      ),
      aSignal("approved"),
    );
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source });
    const ids = ["a", "b", "c"];
    for (const instanceId of ids) await engine.start("p", { instanceId });

    for (let n = 0; n < 3; n++) {
      expect(await engine.signal("approved", { done: false })).toMatchObject({ deliveredCount: 3 });
    }
    await engine.idle();
    for (const id of ids) {
      const trail = await trailOf(engine, id);
      expect(trail.filter((line) => line === "signal-received wait")).toHaveLength(3);
    }
    await engine.signal("approved", { done: true });
    for (const id of ids) expect((await engine.result(id)).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F33 sent concurrently with others reaches each wait once for each", async () => {
    const source = beside(
      sequence(
        service("work"),
        boundary("tick", "work", onSignal("beat"), { cancelActivity: "false" }),
        end("ticked"),
        flow("f3", "tick", "ticked"),
      ),
      aSignal("beat"),
    );
    const engine = await anEngine({ source });
    const ids = ["a", "b", "c"];
    for (const instanceId of ids) await engine.start("p", { instanceId });

    await Promise.all(Array.from({ length: 20 }, (_, n) => engine.signal("beat", { n })));
    await engine.idle();

    for (const id of ids) {
      const trail = await trailOf(engine, id);
      expect(trail.filter((line) => line === "signal-received tick")).toHaveLength(20);
    }
  });
});

describe("the step that a signal causes", () => {
  const thenTask = beside(
    file(
      process(
        start(),
        catching("wait", onSignal("approved")),
        service("work"),
        catching("rest", timer("timeDuration", "PT1H")),
        end(),
        flow("f1", "start", "wait"),
        flow("f2", "wait", "work"),
        flow("f3", "work", "rest"),
        flow("f4", "rest", "end"),
      ),
    ),
    aSignal("approved"),
  );

  test.each([
    ["one", 1],
    ["as many as a page holds", ROWS_PER_PAGE],
    ["as many as a call carries", MAX_ROWS_IN_CALL],
    ["more than that", MAX_ROWS_IN_CALL + 1],
  ])("F30 F33 runs its task once and arms its timer, for %s", async (_, count) => {
    const dataDir = aDataDir();
    const ran: string[] = [];
    const work = (_input: unknown, { instanceId }: { instanceId: string }) => {
      ran.push(instanceId);
      return {};
    };
    const engine = await anEngine({ dataDir, source: thenTask, tasks: { work } });
    const ids = Array.from({ length: count }, (_, n) => `i${n}`);
    await Promise.all(ids.map((instanceId) => engine.start("p", { instanceId })));

    await engine.signal("approved");
    await engine.idle();

    expect(ran.sort()).toEqual([...ids].sort());
    expect(await engine.advanceClock("PT1H")).toMatchObject({ fired: count, left: [] });
    expect((await engine.list({ status: "succeeded", limit: 200 })).items).toHaveLength(
      Math.min(count, 200),
    );
    expect((await engine.list({ status: "suspended" })).items).toEqual([]);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F34 runs the task after a non-interrupting boundary for every broadcast", async () => {
    const dataDir = aDataDir();
    let count = 0;
    const source = beside(
      sequence(
        xml("serviceTask", { id: "host" }, xml("extensionElements", {}, job("outside"))),
        boundary("border", "host", onSignal("beat"), { cancelActivity: "false" }),
        service("work"),
        flow("f3", "border", "work"),
      ),
      aSignal("beat"),
    );
    const work = () => {
      count += 1;
      return {};
    };
    const engine = await anEngine({ dataDir, source, tasks: { work } });
    const { instanceId } = await engine.start("p");
    for (let n = 0; n < 5; n++) {
      await engine.signal("beat");
      await engine.idle();
    }
    await Promise.all(Array.from({ length: 5 }, () => engine.signal("beat")));
    await engine.idle();
    expect(count).toBe(10);
    const { items } = await engine.tasks();
    await engine.complete(items[0]?.taskId ?? "");
    expect((await engine.get(instanceId)).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("a signal's id", () => {
  test("identifies one broadcast: a repeat gets the same response, another body is refused", async () => {
    const engine = await anEngine({ source: approval });
    await engine.start("p", { instanceId: "one" });
    const first = await engine.signal("approved", { a: 1 }, { id: "s-1" });
    await engine.idle();
    await engine.start("p", { instanceId: "two" });

    expect(await engine.signal("approved", { a: 1 }, { id: "s-1" })).toEqual(first);
    await engine.idle();
    expect((await engine.get("two")).status).toBe("suspended");
    const reused = { code: "request/key-reused" };
    await expect(engine.signal("approved", { a: 2 }, { id: "s-1" })).rejects.toMatchObject(reused);
    await expect(engine.signal("other", { a: 1 }, { id: "s-1" })).rejects.toMatchObject(reused);
  });

  test("F40 is the Idempotency-Key over HTTP, and its responses have the right status", async () => {
    const engine = await anEngine({ source: approval });
    const server = await serveEngine(engine, { port: 0 });
    onTestFinished(() => server.close());
    const api = await checkedApi(sendTo(server.url));
    const headers = { "idempotency-key": "s-1" };

    const nobody = await api("POST", "/v1/signals", { json: { name: "approved" }, headers });
    await engine.idle();
    await engine.start("p", { instanceId: "one" });
    const again = await api("POST", "/v1/signals", { json: { name: "approved" }, headers });
    const other = await api("POST", "/v1/signals", { json: { name: "other" }, headers });
    const receipt = await api("GET", "/v1/signals/s-1");
    const unknown = await api("GET", "/v1/signals/s-2");

    expect(nobody).toMatchObject({
      status: 200,
      json: { broadcastId: "s-1", deliveredCount: 0, startedCount: 0 },
    });
    expect(again).toMatchObject({ status: 200, json: nobody.json });
    expect(other).toMatchObject({ status: 409, json: { code: "request/key-reused" } });
    expect(receipt).toMatchObject({ status: 200, json: { complete: true, matched: 0 } });
    expect(unknown.status).toBe(404);
    expect((await engine.get("one")).status).toBe("suspended");
  });

  test("F33 of a large one is answered 202, with the location of its receipt", async () => {
    const engine = await anEngine({ source: approval });
    const server = await serveEngine(engine, { port: 0 });
    onTestFinished(() => server.close());
    const api = await checkedApi(sendTo(server.url));
    const ids = Array.from({ length: MAX_ROWS_IN_CALL + 1 }, (_, n) => `i${n}`);
    await Promise.all(ids.map((instanceId) => engine.start("p", { instanceId })));

    const sent = await api("POST", "/v1/signals", { json: { name: "approved", id: "s-1" } });
    await engine.idle();
    const receipt = await api("GET", sent.headers.location ?? "");
    const again = await api("POST", "/v1/signals", { json: { name: "approved", id: "s-1" } });

    expect(sent).toMatchObject({ status: 202, json: { broadcastId: "s-1" } });
    expect(receipt.json).toMatchObject({ complete: true, delivered: ids.length });
    expect(again).toMatchObject({ status: 200, json: { deliveredCount: ids.length } });
  });

  test("is accepted once from concurrent callers", async () => {
    const engine = await anEngine({ source: approval });
    for (const instanceId of ["one", "two"]) await engine.start("p", { instanceId });

    await Promise.all(
      Array.from({ length: 10 }, () => engine.signal("approved", {}, { id: "s-1" })),
    );
    await engine.idle();

    expect(await engine.receipt("s-1")).toMatchObject({ complete: true, delivered: 2 });
    for (const id of ["one", "two"]) {
      const trail = await trailOf(engine, id);
      expect(trail.filter((line) => line === "signal-received wait")).toHaveLength(1);
    }
  });
});

describe("a signal of the maximum size", () => {
  const name = "n".repeat(MAX_NAME_LENGTH);
  const wrapping = JSON.stringify({ a: "" }).length;
  const payload = { a: "x".repeat(MAX_PAYLOAD_BYTES - wrapping) };

  test("is delivered", async () => {
    const source = beside(sequence(catching("wait", onSignal("s"))), aSignal("s", name));
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");
    expect(await engine.signal(name, payload)).toMatchObject({ deliveredCount: 1 });
    expect((await engine.result(instanceId)).variables).toEqual(payload);
  });

  test("with one more character is refused, and leaves no receipt", async () => {
    const engine = await anEngine({ source: approval });
    const id = "s-1";
    const larger = { a: `${payload.a}x` };
    const refused = [
      [engine.signal(`${name}n`, {}, { id }), "request/invalid"],
      [engine.signal("", {}, { id }), "request/invalid"],
      [engine.signal("approved", {}, { id: name + id }), "request/invalid"],
      [engine.signal("approved", larger, { id }), "request/body-too-large"],
    ] as const;
    for (const [call, code] of refused) await expect(call).rejects.toMatchObject({ code });
    await expect(engine.receipt(id)).rejects.toMatchObject({ code: "broadcast/not-found" });
  });
});

describe("a restart", () => {
  test("during a wait keeps it open, and the signal finds it", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source: approval });
    await before.start("p", { instanceId: "one" });
    await before.close();

    const after = await anEngine({ dataDir });
    expect(await after.recovered).toMatchObject({ resumed: 0, resent: 0, broadcastsResumed: 0 });
    expect(await after.signal("approved", { by: "me" })).toMatchObject({ deliveredCount: 1 });
    expect((await after.result("one")).variables).toEqual({ by: "me" });
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("directly after a broadcast was accepted completes it, each wait once", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source: approval });
    const count = MAX_ROWS_IN_CALL + 50;
    for (let n = 0; n < count; n++) await before.start("p", { instanceId: `i${n}` });
    const answer = await before.signal("approved", {}, { id: "many" });
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir });
    expect(answer).toEqual({ broadcastId: "many" });
    expect(await after.recovered).toMatchObject({ broadcastsResumed: 1 });
    await after.idle();
    expect((await after.list({ status: "suspended" })).items).toEqual([]);
    expect(await after.receipt("many")).toMatchObject({ complete: true, matched: count });
    for (const n of [0, 1, count - 1]) {
      const trail = await trailOf(after, `i${n}`);
      expect(trail.filter((line) => line === "signal-received wait")).toHaveLength(1);
    }
    expect(await after.recover()).toMatchObject({ broadcastsResumed: 0 });
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("directly after a throw broadcasts it once", async () => {
    const dataDir = aDataDir();
    const thrower = beside(
      file(
        xml(
          "process",
          { id: "thrower", isExecutable: "true" },
          start(),
          throwing("shout", onSignal("approved")),
          service("work"),
          end(),
          flow("f1", "start", "shout"),
          flow("f2", "shout", "work"),
          flow("f3", "work", "end"),
        ),
      ),
      aSignal("approved"),
    );
    const before = await anEngine({ dataDir, source: approval });
    await before.deploy(thrower);
    await before.start("p", { instanceId: "one" });
    await before.start("thrower", { instanceId: "two" });
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir });
    await after.idle();
    expect((await after.get("one")).status).toBe("succeeded");
    const trail = await trailOf(after, "one");
    expect(trail.filter((line) => line === "signal-received wait")).toHaveLength(1);
    expect((await after.tasks()).items).toHaveLength(1);
    await after.cancel("two");
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });
});

type Engine = Awaited<ReturnType<typeof anEngine>>;
