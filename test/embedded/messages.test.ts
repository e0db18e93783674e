import { describe, expect, onTestFinished, test } from "vitest";
import {
  MAX_BUFFERED_MESSAGES,
  MAX_MAILBOX_BYTES,
  MAX_NAME_LENGTH,
  MAX_PAYLOAD_BYTES,
  MAX_REMEMBERED_MESSAGES,
  MAX_WAITERS_PER_MAILBOX,
} from "../../lib/definition/limits.ts";
import { serveEngine } from "../../lib/embedded/index.ts";
import { checkedApi, sendTo } from "../support/api-client.ts";
import {
  aMessage,
  beside,
  boundary,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  onMessage,
  receive,
  sequence,
  service,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";
import { leftBy, NOTHING_LEFT } from "../support/left-in-store.ts";

const payment = aMessage("payment", { key: "=order" });
const paid = beside(sequence(catching("wait", onMessage("payment"))), payment);
/** The same under another process id. */
const paidBy = (id: string) => paid.replace('id="p"', `id="${id}"`);
const forOrder = (order: string) => ({ name: "payment", correlationKey: order });

async function aWaiting(order: string, options: Parameters<typeof anEngine>[0] = {}) {
  const engine = await anEngine({ source: paid, ...options });
  await engine.start("p", { instanceId: order, variables: { order } });
  return engine;
}

describe("a message", () => {
  test("F42 reaches only the wait with its key, and its payload is merged", async () => {
    const dataDir = aDataDir();
    const engine = await aWaiting("a", { dataDir });
    await engine.start("p", { instanceId: "b", variables: { order: "b", amount: 1 } });

    const answer = await engine.message({ ...forOrder("b"), payload: { amount: 2, by: "card" } });

    expect(answer).toMatchObject({ outcome: "delivered", instanceId: "b" });
    expect(await engine.result("b")).toMatchObject({
      variables: { order: "b", amount: 2, by: "card" },
    });
    expect((await engine.get("a")).status).toBe("suspended");
    expect((await engine.waits("a")).items).toMatchObject([
      { kind: "message", name: "payment", correlationKey: "a" },
    ]);
    await engine.cancel("a");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test.each([
    ["another key", { name: "payment", correlationKey: "b" }],
    ["no key", { name: "payment" }],
    ["another name", { name: "repayment", correlationKey: "a" }],
  ])("F42 for %s finds no wait, and is not kept without a time to live", async (_, other) => {
    const dataDir = aDataDir();
    const engine = await aWaiting("a", { dataDir });

    await expect(engine.message({ ...other, timeToLive: "PT0S" })).rejects.toMatchObject({
      code: "message/no-waiter",
    });

    expect((await engine.get("a")).status).toBe("suspended");
    await engine.cancel("a");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F42 treats a key that is a number as its text", async () => {
    const engine = await anEngine({ source: paid });
    await engine.start("p", { instanceId: "one", variables: { order: 42 } });
    expect(await engine.message(forOrder("42"))).toMatchObject({ outcome: "delivered" });
  });

  test("F42 is answered with the right status over HTTP", async () => {
    const engine = await aWaiting("a");
    const server = await serveEngine(engine, { port: 0 });
    onTestFinished(() => server.close());
    const api = await checkedApi(sendTo(server.url));
    const headers = { "idempotency-key": "m-1" };
    const fleeting = { ...forOrder("b"), timeToLive: "PT0S" };

    const nobody = await api("POST", "/v1/messages", { json: fleeting });
    const delivered = await api("POST", "/v1/messages", { json: forOrder("a"), headers });
    const again = await api("POST", "/v1/messages", { json: forOrder("a"), headers });
    for (let n = 0; n < MAX_BUFFERED_MESSAGES; n++) await engine.message(forOrder("b"));
    const full = await api("POST", "/v1/messages", { json: forOrder("b") });

    expect(nobody).toMatchObject({ status: 404, json: { code: "message/no-waiter" } });
    expect(delivered).toMatchObject({
      status: 200,
      json: { messageId: "m-1", outcome: "delivered", instanceId: "a" },
    });
    expect(again).toMatchObject({ status: 200, json: { outcome: "duplicate" } });
    expect(full).toMatchObject({ status: 429, json: { code: "message/mailbox-full" } });
    expect(full.headers["retry-after"]).toBeDefined();
  });
});

describe("a step that a message causes", () => {
  const thenWork = beside(
    file(
      xml(
        "process",
        { id: "p", isExecutable: "true" },
        start(),
        catching("wait", onMessage("payment")),
        service("work"),
        end(),
        flow("f1", "start", "wait"),
        flow("f2", "wait", "work"),
        flow("f3", "work", "end"),
      ),
    ),
    payment,
  );
  const ids = Array.from({ length: 20 }, (_, n) => `i${n}`);
  const begin = (engine: Engine, id: string) =>
    engine.start("p", { instanceId: id, variables: { order: id } });

  test.each([
    [
      "waits",
      async (engine: Engine) => {
        for (const id of ids) await begin(engine, id);
        for (const id of ids) await engine.message(forOrder(id));
      },
    ],
    [
      "is late",
      async (engine: Engine) => {
        for (const id of ids) await engine.message(forOrder(id));
        for (const id of ids) await begin(engine, id);
      },
    ],
    [
      "comes together with it",
      async (engine: Engine) => {
        await Promise.all(ids.flatMap((id) => [engine.message(forOrder(id)), begin(engine, id)]));
      },
    ],
  ])("F42 runs the task after the wait, when the instance %s", async (_, meet) => {
    const dataDir = aDataDir();
    const ran: string[] = [];
    const work = (_input: unknown, { instanceId }: { instanceId: string }) => {
      ran.push(instanceId);
      return {};
    };
    const engine = await anEngine({ dataDir, source: thenWork, tasks: { work } });

    await meet(engine);
    await engine.idle();

    for (const id of ids) expect((await engine.get(id)).status).toBe("succeeded");
    expect(ran.sort()).toEqual([...ids].sort());
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("a non-interrupting message boundary event", () => {
  test("F42 runs the task after it for every message", async () => {
    const dataDir = aDataDir();
    const ran: unknown[] = [];
    const source = beside(
      sequence(
        xml("serviceTask", { id: "host" }, extensions(job("outside"))),
        boundary("border", "host", onMessage("payment"), { cancelActivity: "false" }),
        service("work"),
        flow("f3", "border", "work"),
      ),
      payment,
    );
    const work = ({ n }: { n?: unknown }) => {
      ran.push(n);
      return {};
    };
    const engine = await anEngine({ dataDir, source, tasks: { work } });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    for (const n of [1, 2, 3]) {
      await engine.message({ ...forOrder("a"), payload: { n } });
      await engine.idle();
    }
    await Promise.all([4, 5, 6].map((n) => engine.message({ ...forOrder("a"), payload: { n } })));
    await engine.idle();
    expect(ran).toHaveLength(6);
    expect(ran.slice(0, 3)).toEqual([1, 2, 3]);
    const { items } = await engine.tasks();
    await engine.complete(items[0]?.taskId ?? "");
    expect((await engine.get("a")).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("an early message", () => {
  test("F42 is kept, and taken by the wait in the step that opens it", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: paid });
    const early = await engine.message({ ...forOrder("a"), payload: { by: "card" } });

    const started = await engine.start("p", { instanceId: "a", variables: { order: "a" } });

    expect(early).toMatchObject({ outcome: "buffered" });
    expect(started).toMatchObject({ status: "succeeded", variables: { by: "card" } });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F42 is one of several that are taken in the order in which they came", async () => {
    const loop = beside(
      file(
        xml(
          "process",
          { id: "p", isExecutable: "true" },
          start(),
          catching("wait", onMessage("payment")),
          service("work"),
          flow("f1", "start", "wait"),
          flow("f2", "wait", "work"),
          flow("f3", "work", "wait"),
        ),
      ),
      payment,
    );
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: loop });
    for (const n of [1, 2, 3]) await engine.message({ ...forOrder("a"), payload: { n } });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });

    const order: unknown[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const { items } = await engine.tasks();
      order.push(items[0]?.variables.n);
      await engine.complete(items[0]?.taskId ?? "");
      await engine.idle();
    }

    expect(order).toEqual([1, 2, 3]);
    expect((await engine.waits("a")).items).toMatchObject([{ kind: "message" }]);
    await engine.cancel("a");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F42 is taken once, although two waits match", async () => {
    const engine = await anEngine({ source: paid });
    await engine.deploy(paidBy("q"));
    await engine.message(forOrder("a"));
    await engine.start("p", { instanceId: "first", variables: { order: "a" } });
    await engine.start("q", { instanceId: "second", variables: { order: "a" } });

    expect((await engine.get("first")).status).toBe("succeeded");
    expect((await engine.get("second")).status).toBe("suspended");
  });

  test("F42 under the same id is one message, however often it comes", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: paid });
    const message = { ...forOrder("a"), messageId: "m-1" };
    const answers = await Promise.all(Array.from({ length: 5 }, () => engine.message(message)));
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
      "buffered",
      ...Array.from({ length: 4 }, () => "duplicate"),
    ]);

    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    expect((await engine.get("a")).status).toBe("succeeded");
    // Also once it is taken: its id is remembered.
    expect(await engine.message(message)).toMatchObject({ outcome: "duplicate" });
    await engine.start("p", { instanceId: "b", variables: { order: "a" } });
    expect((await engine.get("b")).status).toBe("suspended");
    // In another mailbox it is another message.
    const elsewhere = await engine.message({ ...message, correlationKey: "b" });
    expect(elsewhere).toMatchObject({ outcome: "buffered" });
    await engine.cancel("b");
    expect(await leftBy(engine, dataDir)).toEqual({ ...NOTHING_LEFT, mail: ["payment b m-1"] });
  });

  test.each([
    ["as long as it says", "PT10M", "PT9M59S", "PT1S"],
    ["for an hour unless it says otherwise", undefined, "PT59M59S", "PT1S"],
  ])("F42 is kept %s, and then dropped", async (_, timeToLive, almost, rest) => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: paid });
    const ttl = timeToLive === undefined ? {} : { timeToLive };
    await engine.message({ ...forOrder("a"), ...ttl });
    await engine.message({ ...forOrder("b"), ...ttl });

    await engine.advanceClock(almost);
    await engine.start("p", { instanceId: "in-time", variables: { order: "a" } });
    await engine.advanceClock(rest);
    await engine.start("p", { instanceId: "late", variables: { order: "b" } });

    expect((await engine.get("in-time")).status).toBe("succeeded");
    expect((await engine.get("late")).status).toBe("suspended");
    await engine.cancel("late");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("that has expired makes room, and lets later ones come first", async () => {
    const engine = await anEngine({ source: paid });
    await engine.message({ ...forOrder("a"), payload: { n: 1 }, timeToLive: "PT1M" });
    await engine.message({ ...forOrder("a"), payload: { n: 2 } });
    await engine.advanceClock("PT1M");
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    expect((await engine.get("a")).variables).toMatchObject({ n: 2 });
  });
});

describe("a mailbox", () => {
  test("F42 keeps as many messages as its limit, and refuses the next and stores nothing", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: paid });
    const send = (n: number) => engine.message({ ...forOrder("a"), messageId: `m-${n}` });
    for (let n = 1; n <= MAX_BUFFERED_MESSAGES; n++) await send(n);

    const full = { code: "message/mailbox-full", retryable: true };
    await expect(send(MAX_BUFFERED_MESSAGES + 1)).rejects.toMatchObject(full);

    // One is taken, and there is room for one.
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    const outcome = "buffered";
    expect(await send(MAX_BUFFERED_MESSAGES + 1)).toMatchObject({ outcome });
    await expect(send(MAX_BUFFERED_MESSAGES + 2)).rejects.toMatchObject(full);
    const { mail } = await leftBy(engine, dataDir);
    const kept = Array.from({ length: MAX_BUFFERED_MESSAGES }, (_, n) => `payment a m-${n + 2}`);
    expect(mail).toEqual(kept);
  });

  test("keeps as many bytes as its limit, and refuses more", async () => {
    const engine = await anEngine({ source: paid });
    const send = (bytes: number) =>
      engine.message({ ...forOrder("a"), payload: { a: "x".repeat(bytes) } });
    const large = MAX_PAYLOAD_BYTES - 1_000;
    const fitting = Math.floor(MAX_MAILBOX_BYTES / MAX_PAYLOAD_BYTES);
    for (let n = 0; n < fitting; n++) await send(large);
    const left = MAX_MAILBOX_BYTES - fitting * large;

    await expect(send(left)).rejects.toMatchObject({ code: "message/mailbox-full" });
    expect(await send(left - 1_500)).toMatchObject({ outcome: "buffered" });
  });

  test("remembers the ids of as many messages as its limit, and forgets the oldest", async () => {
    const engine = await anEngine({ source: paid });
    const start = (n: number) =>
      engine.start("p", { instanceId: `i${n}`, variables: { order: "a" } });
    const send = (n: number) => engine.message({ ...forOrder("a"), messageId: `m-${n}` });
    for (let n = 0; n < MAX_REMEMBERED_MESSAGES; n++) {
      await start(n);
      await send(n);
    }
    expect(await send(0)).toMatchObject({ outcome: "duplicate" });

    await start(MAX_REMEMBERED_MESSAGES);
    await send(MAX_REMEMBERED_MESSAGES);

    expect(await send(1)).toMatchObject({ outcome: "duplicate" });
    expect(await send(0)).toMatchObject({ outcome: "buffered" });
  });

  test("forgets an id after at least a day, or when the message would have expired", async () => {
    const engine = await anEngine({ source: paid });
    const short = { ...forOrder("a"), messageId: "short", timeToLive: "PT1M" };
    const long = { ...forOrder("b"), messageId: "long", timeToLive: "P3D" };
    await engine.message(short);
    await engine.message(long);

    await engine.advanceClock("PT23H59M");
    expect(await engine.message(short)).toMatchObject({ outcome: "duplicate" });
    await engine.advanceClock("PT1M");
    expect(await engine.message(short)).toMatchObject({ outcome: "buffered" });
    await engine.advanceClock("P1D");
    expect(await engine.message(long)).toMatchObject({ outcome: "duplicate" });
  });

  test("F46 is shared by as many process ids as its limit; a message goes to all of them", async () => {
    const dataDir = aDataDir();
    const ids = Array.from({ length: MAX_WAITERS_PER_MAILBOX + 1 }, (_, n) => `p${n}`);
    const engine = await anEngine({ dataDir });
    for (const id of ids) await engine.deploy(paidBy(id));
    for (const id of ids) await engine.start(id, { instanceId: id, variables: { order: "a" } });
    const [outside] = ids.slice(MAX_WAITERS_PER_MAILBOX);
    const { incidents } = await engine.get(outside ?? "");

    const answer = await engine.message({ ...forOrder("a"), payload: { by: "card" } });
    await engine.idle();

    expect(incidents).toMatchObject([{ element: "wait", type: "UNHANDLED_ERROR_EVENT" }]);
    expect(answer).toMatchObject({ outcome: "delivered" });
    for (const id of ids.slice(0, MAX_WAITERS_PER_MAILBOX)) {
      expect(await engine.get(id)).toMatchObject({
        status: "succeeded",
        variables: { by: "card" },
      });
    }
    await engine.cancel(outside ?? "");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("names, keys and payloads of messages", () => {
  const long = "n".repeat(MAX_NAME_LENGTH);
  const payload = { a: "x".repeat(MAX_PAYLOAD_BYTES - '{"a":""}'.length) };

  test("are accepted up to their limits", async () => {
    const source = beside(
      sequence(catching("wait", onMessage("m"))),
      aMessage("m", { name: long, key: "=order" }),
    );
    const engine = await anEngine({ source });
    await engine.start("p", { instanceId: "a", variables: { order: long } });
    const message = { name: long, correlationKey: long, messageId: long, payload };
    expect(await engine.message(message)).toMatchObject({ outcome: "delivered" });
    expect((await engine.get("a")).variables).toEqual({ order: long, ...payload });
  });

  test("are refused beyond their limits, and nothing is stored", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: paid });
    const tooLong = `${long}n`;
    const refused = [
      [{ name: tooLong }, "request/invalid"],
      [{ name: "payment", correlationKey: tooLong }, "request/invalid"],
      [{ name: "payment", messageId: tooLong }, "request/invalid"],
      [{ name: "payment", timeToLive: "soon" }, "request/invalid"],
      [{ name: "payment", payload: { a: `${payload.a}x` } }, "request/body-too-large"],
    ] as const;
    for (const [message, code] of refused) {
      await expect(engine.message(message)).rejects.toMatchObject({ code });
    }
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F45 a key that is too long is an incident of the wait", async () => {
    const engine = await anEngine({ source: paid });
    await engine.start("p", { instanceId: "a", variables: { order: `${long}n` } });
    expect((await engine.get("a")).incidents).toMatchObject([
      { type: "EXTRACT_VALUE_ERROR", message: expect.stringContaining("256 characters") },
    ]);
  });
});

describe("a receive task", () => {
  test("F42 waits for its message like a catch event", async () => {
    const dataDir = aDataDir();
    const source = beside(sequence(receive("get", "payment")), payment);
    const engine = await anEngine({ dataDir, source });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    expect((await engine.waits("a")).items).toMatchObject([
      {
        kind: "message",
        element: "get",
        wakeWith: { path: "/v1/messages", body: { name: "payment", correlationKey: "a" } },
      },
    ]);
    await engine.message({ ...forOrder("a"), payload: { n: 1 } });
    expect(await engine.get("a")).toMatchObject({ status: "succeeded", variables: { n: 1 } });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("a message boundary event", () => {
  const guarded = (more: Readonly<Record<string, string>> = {}) =>
    beside(
      sequence(
        service("work"),
        boundary("paid", "work", onMessage("payment"), more),
        end("paid-end"),
        flow("f3", "paid", "paid-end"),
      ),
      payment,
    );

  test("F42 F47 interrupts its host, also when the message came before the host was active", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: guarded() });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    await engine.message(forOrder("a"));
    await engine.message(forOrder("b"));
    await engine.start("p", { instanceId: "b", variables: { order: "b" } });

    for (const id of ["a", "b"]) {
      const { status, completedElements } = await engine.get(id);
      expect({ status, completedElements }).toMatchObject({ status: "succeeded" });
      expect(completedElements).toContain("paid-end");
    }
    expect((await engine.tasks()).items).toEqual([]);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F42 that does not interrupt takes every message, early ones too, and is closed with its host", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: guarded({ cancelActivity: "false" }) });
    await engine.message({ ...forOrder("a"), messageId: "early" });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    for (const messageId of ["one", "two", "two"]) {
      await engine.message({ ...forOrder("a"), messageId });
    }
    await engine.idle();

    const trail = await trailOf(engine, "a");
    expect(trail.filter((line) => line === "message-received paid")).toHaveLength(3);
    expect(trail.filter((line) => line === "element-completed paid-end")).toHaveLength(3);
    const { items } = await engine.tasks();
    await engine.complete(items[0]?.taskId ?? "");
    expect((await engine.get("a")).status).toBe("succeeded");
    // The wait is closed: the next message is kept for another.
    expect(await engine.message({ ...forOrder("a"), messageId: "late" })).toMatchObject({
      outcome: "buffered",
    });
    expect(await leftBy(engine, dataDir)).toEqual({ ...NOTHING_LEFT, mail: ["payment a late"] });
  });
});

describe("a wait for a message", () => {
  test("F45 without its key variable is an incident, which setting the variable resolves", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: paid });
    await engine.start("p", { instanceId: "a" });
    const { incidents, status } = await engine.get("a");
    expect({ incidents, status }).toMatchObject({
      status: "suspended",
      incidents: [{ type: "EXTRACT_VALUE_ERROR", element: "wait" }],
    });
    expect(incidents[0]?.message).toContain("order");
    expect((await engine.list({ incident: true })).items).toHaveLength(1);

    await engine.resolveIncident("a", incidents[0]?.incidentId ?? "", {
      variables: { order: "a" },
    });
    expect(await engine.get("a")).toMatchObject({
      incidents: [],
      waits: [{ kind: "message", correlationKey: "a" }],
    });
    expect(await engine.message(forOrder("a"))).toMatchObject({ outcome: "delivered" });
    expect((await engine.get("a")).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F46 beside one of the same process is an incident that says so, until that one is closed", async () => {
    const dataDir = aDataDir();
    const engine = await aWaiting("first", { dataDir });
    await engine.start("p", { instanceId: "second", variables: { order: "first" } });
    const { incidents, waits } = await engine.get("second");
    expect(incidents).toMatchObject([
      {
        type: "UNHANDLED_ERROR_EVENT",
        element: "wait",
        message: expect.stringMatching(/already waits for the message "payment".*"first"/),
      },
    ]);
    expect(waits.map(({ kind }) => kind)).toEqual(["incident"]);
    const incidentId = incidents[0]?.incidentId ?? "";

    // While another instance has the pair, resolving gives the same incident again.
    await engine.resolveIncident("second", incidentId);
    const again = (await engine.get("second")).incidents;
    expect(again).toMatchObject([{ type: "UNHANDLED_ERROR_EVENT" }]);
    await engine.message(forOrder("first"));
    expect((await engine.get("first")).status).toBe("succeeded");
    await engine.resolveIncident("second", again[0]?.incidentId ?? "");
    expect((await engine.waits("second")).items).toMatchObject([{ kind: "message" }]);
    await engine.message(forOrder("first"));
    expect((await engine.get("second")).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F46 beside one of the same process is an error that a boundary event can catch", async () => {
    const source = beside(
      sequence(
        receive("get", "payment"),
        boundary("taken", "get", xml("errorEventDefinition", { errorRef: "taken-error" })),
        end("taken-end"),
        flow("f3", "taken", "taken-end"),
      ),
      payment,
      xml("error", { id: "taken-error", errorCode: "correlation-taken" }),
    );
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source });
    await engine.start("p", { instanceId: "first", variables: { order: "a" } });
    await engine.start("p", { instanceId: "second", variables: { order: "a" } });

    const { status, completedElements } = await engine.get("second");
    expect(status).toBe("succeeded");
    expect(completedElements).toContain("taken-end");
    expect(await engine.message(forOrder("a"))).toMatchObject({ instanceId: "first" });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F46 is opened by one of many that start together, and the others get an incident", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: paid });
    const ids = Array.from({ length: 10 }, (_, n) => `i${n}`);
    await Promise.all(
      ids.map((instanceId) => engine.start("p", { instanceId, variables: { order: "a" } })),
    );
    await engine.idle();

    const kinds = await Promise.all(
      ids.map(async (id) => (await engine.waits(id)).items.map(({ kind }) => kind)),
    );
    expect(kinds.flat().sort()).toEqual([...ids.slice(1).map(() => "incident"), "message"]);
    for (const id of ids) await engine.cancel(id);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F46 of several process ids gets the message with all the others", async () => {
    const dataDir = aDataDir();
    const engine = await aWaiting("one", { dataDir });
    await engine.deploy(paidBy("q"));
    await engine.start("q", { instanceId: "two", variables: { order: "one" } });
    const answer = await engine.message({ ...forOrder("one"), timeToLive: "PT0S" });
    await engine.idle();
    expect(answer).toMatchObject({ outcome: "delivered" });
    for (const id of ["one", "two"]) expect((await engine.get(id)).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("an interrupted wait", () => {
  const withTimer = beside(
    sequence(
      receive("get", "payment"),
      boundary("late", "get", timer("timeDuration", "PT1H")),
      end("late-end"),
      flow("f3", "late", "late-end"),
    ),
    payment,
  );

  test.each([
    ["by a timer", (engine: Engine) => engine.advanceClock("PT1H")],
    ["by cancelling its instance", (engine: Engine) => engine.cancel("a")],
  ])(
    "F47 %s frees its key: the next message is kept, the next wait takes it",
    async (_, interrupt) => {
      const dataDir = aDataDir();
      const engine = await anEngine({ dataDir, source: withTimer });
      await engine.start("p", { instanceId: "a", variables: { order: "a" } });

      await interrupt(engine);

      expect((await engine.waits("a")).items).toEqual([]);
      const fleeting = engine.message({ ...forOrder("a"), timeToLive: "PT0S" });
      await expect(fleeting).rejects.toMatchObject({ code: "message/no-waiter" });
      const kept = await engine.message({ ...forOrder("a"), timeToLive: "P1D" });
      expect(kept).toMatchObject({ outcome: "buffered" });
      const next = await engine.start("p", { instanceId: "b", variables: { order: "a" } });
      expect(next.status).toBe("succeeded");
      expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
    },
  );

  test("F47 leaves the messages that it did not take", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: withTimer });
    for (const messageId of ["one", "two"]) await engine.message({ ...forOrder("a"), messageId });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    expect((await engine.get("a")).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual({ ...NOTHING_LEFT, mail: ["payment a two"] });
  });
});

describe("a restart", () => {
  test("keeps a wait for a message, early messages, and the ids of those that were taken", async () => {
    const dataDir = aDataDir();
    const before = await aWaiting("a", { dataDir });
    await before.message({ ...forOrder("b"), messageId: "early", payload: { n: 1 } });
    await before.start("p", { instanceId: "c", variables: { order: "c" } });
    await before.message({ ...forOrder("c"), messageId: "taken" });
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir });
    expect(await after.recovered).toMatchObject({ mailboxesPoked: 0, resent: 0 });
    const again = await after.message({ ...forOrder("c"), messageId: "taken" });
    expect(again).toMatchObject({ outcome: "duplicate" });
    expect(await after.message(forOrder("a"))).toMatchObject({ outcome: "delivered" });
    await after.start("p", { instanceId: "b", variables: { order: "b" } });
    for (const id of ["a", "b", "c"]) expect((await after.get(id)).status).toBe("succeeded");
    expect((await after.get("b")).variables).toEqual({ order: "b", n: 1 });
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("directly after a message to several still gives it to each of them once", async () => {
    const dataDir = aDataDir();
    const before = await aWaiting("one", { dataDir });
    for (const id of ["q", "r"]) {
      await before.deploy(paidBy(id));
      await before.start(id, { instanceId: id, variables: { order: "one" } });
    }
    // Closed while the message is being delivered: each instance that has not got it yet gets it
    // later.
    const sent = before.message({ ...forOrder("one"), messageId: "m" }).catch(() => "closed");
    await before.close({ graceMs: 0 });
    await sent;

    const after = await anEngine({ dataDir });
    await after.message({ ...forOrder("one"), messageId: "m" });
    await after.idle();
    for (const id of ["one", "q", "r"]) {
      const trail = await trailOf(after, id);
      expect(trail.filter((line) => line === "message-received wait")).toHaveLength(1);
    }
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });
});

type Engine = Awaited<ReturnType<typeof anEngine>>;
