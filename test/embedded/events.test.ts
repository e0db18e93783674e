import { describe, expect, onTestFinished, test } from "vitest";
import {
  MAX_INBOX_BYTES,
  MAX_INBOX_EVENTS,
  MAX_NAME_LENGTH,
  MAX_PAYLOAD_BYTES,
  MAX_REMEMBERED_EVENTS,
  MAX_ROWS_IN_CALL,
} from "../../lib/definition/limits.ts";
import { serveEngine } from "../../lib/embedded/index.ts";
import { checkedApi, sendTo } from "../support/api-client.ts";
import { aCodeEngine } from "../support/code-engine.ts";
import { aDataDir } from "../support/embedded.ts";
import { finishWork, isWaiting, workflows } from "../support/event-workflows.ts";
import {
  event,
  message,
  race,
  signal,
  task,
  timer,
  type Workflow,
} from "../support/generator-runner.ts";
import { leftBy, NOTHING_LEFT } from "../support/left-in-store.ts";

type Engine = Awaited<ReturnType<typeof aCodeEngine>>;

const HOUR = 3_600_000;

describe("an event to one instance", () => {
  test("D6 that comes before the wait is kept, and read in the step that opens the wait", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    await engine.start("works", { instanceId: "a" });

    const sent = await engine.event({ name: "paid", payload: { n: 1 }, target: "a", id: "e-1" });
    const { items } = await engine.tasks();
    await engine.complete(items[0]?.taskId ?? "");

    expect(sent).toEqual({ id: "e-1", outcome: "queued" });
    expect(await engine.get("a")).toMatchObject({ status: "succeeded", result: { n: 1 } });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D6 that comes during the wait is read at once", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    await engine.start("waits", { instanceId: "a" });
    expect((await engine.waits("a")).items).toMatchObject([
      {
        kind: "event",
        name: "paid",
        wakeWith: { method: "POST", path: "/v1/events", body: { name: "paid", target: "a" } },
      },
    ]);

    const sent = await engine.event({ name: "paid", payload: [1, null], target: "a" });

    expect(sent).toMatchObject({ outcome: "delivered" });
    expect(await engine.get("a")).toMatchObject({ status: "succeeded", result: [1, null] });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D6 that comes after the wait is for the next one, or is dropped with the instance", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    await engine.start("thrice", { instanceId: "a" });
    const send = (n: number) => engine.event({ name: "paid", payload: n, target: "a" });
    await finishWork(engine, "a");
    expect(await send(1)).toMatchObject({ outcome: "delivered" });
    // It runs: these three are unread, and there are two waits to come.
    for (const n of [2, 3, 4]) expect(await send(n)).toMatchObject({ outcome: "queued" });
    await finishWork(engine, "a");
    await finishWork(engine, "a");

    expect(await engine.get("a")).toMatchObject({ status: "succeeded", result: [1, 2, 3] });
    await expect(send(5)).rejects.toMatchObject({ code: "instance/ended" });
    expect((await engine.deadLetters()).items).toEqual([]);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D6 is read by name: others stay unread", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.start("waits", { instanceId: "a" });
    const other = await engine.event({ name: "cancelled", target: "a" });
    expect(other).toMatchObject({ outcome: "queued" });
    expect(await isWaiting(engine, "a")).toBe(true);
  });

  test("D9 is refused for an unknown instance, an ended one, and a full inbox", async () => {
    const engine = await aCodeEngine(workflows);
    const server = await serveEngine(engine, { port: 0 });
    onTestFinished(() => server.close());
    const api = await checkedApi(sendTo(server.url));
    await engine.start("works", { instanceId: "full" });
    await engine.start("waits", { instanceId: "ended" });
    await engine.cancel("ended");
    const send = (target: string) =>
      api("POST", "/v1/events", { json: { name: "paid", payload: 1, target } });

    const unknown = await send("nobody");
    const ended = await send("ended");
    for (let n = 0; n < MAX_INBOX_EVENTS; n++) {
      expect(await engine.event({ name: "paid", payload: n, target: "full" })).toMatchObject({
        outcome: "queued",
      });
    }
    const full = await send("full");

    expect(unknown).toMatchObject({ status: 404, json: { code: "instance/not-found" } });
    expect(ended).toMatchObject({ status: 410, json: { code: "instance/ended" } });
    expect(full).toMatchObject({ status: 429, json: { code: "event/inbox-full" } });
    expect(full.headers["retry-after"]).toBeDefined();
    // Reading one makes room for one.
    await finishWork(engine, "full");
    expect((await engine.get("full")).result).toBe(0);
  });

  test("D9 is accepted up to the bytes of an inbox, and not one more", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.start("works", { instanceId: "a" });
    const fitting = "x".repeat(MAX_INBOX_BYTES - '[""]'.length);
    const send = (payload: string) => engine.event({ name: "paid", payload, target: "a" });

    await expect(send(`${fitting}x`)).rejects.toMatchObject({ code: "request/body-too-large" });
    expect(await send(fitting)).toMatchObject({ outcome: "queued" });
    await expect(send("")).rejects.toMatchObject({ code: "event/inbox-full" });
    await finishWork(engine, "a");
    expect((await engine.get("a")).result).toBe(fitting);
  });

  test("D9 is taken by a wait although the inbox is full of others", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.start("waits", { instanceId: "a" });
    for (let n = 0; n < MAX_INBOX_EVENTS; n++) await engine.event({ name: "other", target: "a" });
    const taken = await engine.event({ name: "paid", payload: 1, target: "a" });
    expect(taken).toMatchObject({ outcome: "delivered" });
    expect((await engine.get("a")).result).toBe(1);
  });

  test("D9 is read in the order in which it was sent, and once under its id", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    await engine.start("thrice", { instanceId: "a" });
    for (const n of [1, 2, 2, 3]) {
      const sent = await engine.event({ name: "paid", payload: n, target: "a", id: `e-${n}` });
      expect(sent).toEqual({ id: `e-${n}`, outcome: "queued" });
    }
    const reused = engine.event({ name: "paid", payload: 9, target: "a", id: "e-1" });
    await expect(reused).rejects.toMatchObject({
      code: "request/key-reused",
      message: expect.stringMatching(/^The event id "e-1" was used before, for something else/),
    });
    const byKey = (payload: number) => engine.event({ name: "x", payload, target: "a" }, "k-1");
    await byKey(1);
    await expect(byKey(2)).rejects.toThrow(/^The Idempotency-Key was used before/);
    for (let n = 0; n < 3; n++) await finishWork(engine, "a");
    expect((await engine.get("a")).result).toEqual([1, 2, 3]);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D9 is known by its id within the limit of remembered ids", async () => {
    const many: Workflow = function* () {
      let count = 0;
      while (true)
        if ((yield event("paid")) === "end") return count;
        else count += 1;
    };
    const engine = await aCodeEngine({ many });
    await engine.start("many", { instanceId: "a" });
    const send = (n: number) => engine.event({ name: "paid", payload: n, target: "a", id: `${n}` });
    for (let n = 0; n < MAX_REMEMBERED_EVENTS; n++) await send(n);
    await send(0); // remembered: not read again
    await send(MAX_REMEMBERED_EVENTS);
    await send(0); // forgotten: it is another one
    await engine.event({ name: "paid", payload: "end", target: "a" });
    expect((await engine.get("a")).result).toBe(MAX_REMEMBERED_EVENTS + 2);
  });

  test("D9 is refused with a name, an id or a payload beyond its limit", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.start("waits", { instanceId: "a" });
    const long = "n".repeat(MAX_NAME_LENGTH + 1);
    const payload = "x".repeat(MAX_PAYLOAD_BYTES - 1);
    for (const target of [{}, { target: "a" }]) {
      const refused = [
        [{ name: long, ...target }, "request/invalid"],
        [{ name: "paid", id: long, ...target }, "request/invalid"],
        [{ name: "paid", payload, ...target }, "request/body-too-large"],
      ] as const;
      for (const [request, code] of refused) {
        await expect(engine.event(request)).rejects.toMatchObject({ code });
      }
    }
    expect(await isWaiting(engine, "a")).toBe(true);
  });
});

describe("a race of two events and a timer", () => {
  const racing: Workflow = function* () {
    const first = yield race({ yes: event("yes"), no: event("no"), late: timer(HOUR) });
    yield task("work");
    const next = yield race({ no: event("no"), late: timer(HOUR) });
    return [first, next];
  };

  test.each([
    ["yes", async (engine: Engine) => void (await engine.event({ name: "yes", target: "a" }))],
    ["no", async (engine: Engine) => void (await engine.event({ name: "no", target: "a" }))],
    ["late", async (engine: Engine) => void (await engine.advanceClock("PT1H"))],
  ])("D7 has one winner, %s, and the others are disarmed", async (winner, win) => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine({ racing }, { dataDir });
    await engine.start("racing", { instanceId: "a" });

    await win(engine);

    expect((await engine.waits("a")).items).toMatchObject([{ kind: "task" }]);
    expect(await engine.advanceClock("PT3H")).toMatchObject({ fired: 0 });
    await finishWork(engine, "a");
    await engine.event({ name: "no", payload: 2, target: "a" });
    expect((await engine.get("a")).result).toMatchObject([{ winner }, { winner: "no", value: 2 }]);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D7 leaves the losing event for the next wait", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine({ racing }, { dataDir });
    await engine.start("racing", { instanceId: "a" });
    const [yes, no] = await Promise.all([
      engine.event({ name: "yes", payload: 1, target: "a" }),
      engine.event({ name: "no", payload: 2, target: "a" }),
      engine.advanceClock("PT1H"),
    ]);
    await finishWork(engine, "a");

    const outcomes = [yes?.outcome, no?.outcome].filter((it) => it === "delivered");
    expect(outcomes.length).toBeLessThanOrEqual(1);
    const { result, status } = await engine.get("a");
    if (no?.outcome === "queued") {
      expect({ status, result }).toMatchObject({
        status: "succeeded",
        result: [{}, { winner: "no", value: 2 }],
      });
    } else {
      expect(status).toBe("suspended");
      await engine.cancel("a");
    }
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D7 has one winner, however they arrive together, and a restart replays it", async () => {
    const dataDir = aDataDir();
    const before = await aCodeEngine({ racing }, { dataDir });
    const ids = Array.from({ length: 20 }, (_, n) => `i${n}`);
    for (const instanceId of ids) await before.start("racing", { instanceId });
    await Promise.all(
      ids.flatMap((target, n) => [
        ...(n % 2 === 0 ? ["yes", "no"] : ["no", "yes"]).map((name) =>
          before.event({ name, payload: name, target }),
        ),
        ...(n === 0 ? [before.advanceClock("PT1H")] : []),
      ]),
    );
    await before.idle();
    await before.close();

    const after = await aCodeEngine({ racing }, { dataDir });
    for (const id of ids) {
      const waiting = (await after.waits(id)).items;
      expect(waiting.map(({ kind }) => kind)).toEqual(["task"]);
      await finishWork(after, id);
      if (await isWaiting(after, id)) await after.event({ name: "no", payload: "x", target: id });
      const { result } = await after.get(id);
      const [first, next] = result as { winner: string; value: string }[];
      expect(["yes", "no", "late"]).toContain(first?.winner);
      // The losing event is read by the second race; the winning one is not read again.
      expect(next).toEqual({ winner: "no", value: first?.winner === "no" ? "x" : "no" });
    }
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("a restart", () => {
  test("D6 in the middle of waits for events, signals and messages loses none", async () => {
    const dataDir = aDataDir();
    const mixed: Workflow = function* () {
      const a = yield race({ it: event("paid"), late: timer(HOUR) });
      const b = yield race({ it: signal("go"), late: timer(HOUR) });
      const c = yield race({ it: message("order", "k"), late: timer(HOUR) });
      return [a, b, c];
    };
    const open = () => aCodeEngine({ mixed }, { dataDir });
    let engine = await open();
    await engine.start("mixed", { instanceId: "a" });
    const steps = [
      (at: Engine) => at.event({ name: "paid", payload: 1, target: "a" }),
      (at: Engine) => at.signal("go", { n: 2 }),
      (at: Engine) => at.message({ name: "order", correlationKey: "k", payload: { n: 3 } }),
    ];
    for (const step of steps) {
      await engine.close({ graceMs: 0 });
      engine = await open();
      expect(await engine.recovered).toMatchObject({ timersFired: 0 });
      expect((await engine.waits("a")).items).toHaveLength(2);
      await step(engine);
    }
    expect((await engine.get("a")).result).toEqual([
      { winner: "it", value: 1 },
      { winner: "it", value: { n: 2 } },
      { winner: "it", value: { n: 3 } },
    ]);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D10 directly after a broadcast for all was accepted completes it", async () => {
    const dataDir = aDataDir();
    const before = await aCodeEngine(workflows, { dataDir });
    await before.setEventType("paid", { consumeOnRead: false });
    const count = MAX_ROWS_IN_CALL + 20;
    for (let n = 0; n < count; n++) await before.start("waits", { instanceId: `i${n}` });
    const sent = await before.event({ name: "paid", id: "e-1" });
    await before.close({ graceMs: 0 });

    const after = await aCodeEngine(workflows, { dataDir });
    expect(sent).toEqual({ id: "e-1" });
    expect(await after.recovered).toMatchObject({ broadcastsResumed: 1, eventsOffered: 0 });
    await after.idle();
    expect((await after.list({ status: "suspended" })).items).toEqual([]);
    expect(await after.receipt("e-1")).toMatchObject({ complete: true });
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D10 during an offer to one gives it to one", async () => {
    const dataDir = aDataDir();
    const before = await aCodeEngine(workflows, { dataDir });
    await before.setEventType("paid", { deliveryMode: "All" });
    for (const instanceId of ["a", "b"]) await before.start("waits", { instanceId });
    // Closed during delivery: accepted or not, the repeat under its id decides.
    const sent = before.event({ name: "paid", payload: 1, id: "e-1" }).catch(() => "closed");
    await before.close({ graceMs: 0 });
    await sent;

    const after = await aCodeEngine(workflows, { dataDir });
    await after.event({ name: "paid", payload: 1, id: "e-1" });
    await after.idle();
    const open = [await isWaiting(after, "a"), await isWaiting(after, "b")];
    expect(open.filter((it) => it)).toHaveLength(1);
    for (const id of ["a", "b"]) await after.cancel(id);
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });
});
