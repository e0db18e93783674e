import { describe, expect, test } from "vitest";
import {
  aMessage,
  aSignal,
  beside,
  catching,
  file,
  flow,
  onMessage,
  onSignal,
  process,
  service,
  start,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";
import { leftBy } from "../support/left-in-store.ts";

/** For ever: a signal, a message, a task. */
const loop = beside(
  file(
    process(
      start(),
      catching("hear", onSignal("go")),
      catching("get", onMessage("pay")),
      service("work"),
      flow("f1", "start", "hear"),
      flow("f2", "hear", "get"),
      flow("f3", "get", "work"),
      flow("f4", "work", "hear"),
    ),
  ),
  aSignal("go"),
  aMessage("pay", { key: "=order" }),
);

const ROUNDS = 10;
const SIGNALS_PER_ROUND = 4;
const ids = Array.from({ length: 20 }, (_, n) => `i${n}`);

describe("an engine that is stopped repeatedly under load", () => {
  test("F33 F42 S2 loses nothing that it acknowledged, and takes nothing twice", async () => {
    const dataDir = aDataDir();
    const ran: string[] = [];
    const work = (_input: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
      ran.push(idempotencyKey);
      return {};
    };
    let engine = await anEngine({ dataDir, tasks: { work } });
    await engine.deploy(loop);
    for (const id of ids) await engine.start("p", { instanceId: id, variables: { order: id } });

    for (let round = 0; round < ROUNDS; round++) {
      const signals = Array.from({ length: SIGNALS_PER_ROUND }, (_, n) => () => {
        return engine.signal("go", {}, { id: `s-${round}-${n}` });
      });
      const messages = ids.map((id) => () => {
        const message = { name: "pay", correlationKey: id, messageId: `m-${round}-${id}` };
        return engine.message({ ...message, timeToLive: "P1D" });
      });
      const calls = [...signals, ...messages].map((call) => ({ call, done: call() }));
      const unanswered = calls.map(({ call, done }) =>
        done.then(
          () => [],
          () => [call],
        ),
      );
      // Each round it is stopped at another moment.
      for (let turn = 0; turn < round; turn++) await new Promise(setImmediate);
      await engine.close({ graceMs: 0 });
      const again = (await Promise.all(unanswered)).flat();
      engine = await anEngine({ dataDir, tasks: { work } });
      for (const call of again) await call();
      await engine.idle();
    }

    const taken = await Promise.all(ids.map((id) => takenBy(engine, id)));
    for (const { signals, messages } of taken) {
      expect(new Set(signals).size).toBe(signals.length);
      expect(new Set(messages).size).toBe(messages.length);
    }
    const receipts = await Promise.all(
      Array.from({ length: ROUNDS * SIGNALS_PER_ROUND }, (_, n) =>
        engine.receipt(`s-${Math.floor(n / SIGNALS_PER_ROUND)}-${n % SIGNALS_PER_ROUND}`),
      ),
    );
    expect(receipts.every(({ complete }) => complete)).toBe(true);
    const read = taken.flatMap(({ messages }) => messages);
    // A task for each message, whatever else ran twice.
    expect(new Set(ran).size).toBe(read.length);
    expect(read.length).toBeGreaterThan(ids.length);
    const { mail, due } = await leftBy(engine, dataDir);
    const kept = mail.map((line) => line.split(" ")[2]);
    const sent = Array.from({ length: ROUNDS }, (_, n) => ids.map((id) => `m-${n}-${id}`)).flat();
    expect([...read, ...kept].toSorted()).toEqual(sent.toSorted());
    expect(due).toEqual([]);
  });
});

type Engine = Awaited<ReturnType<typeof anEngine>>;

/** Ids of everything that an instance has received. */
async function takenBy(engine: Engine, id: string) {
  const signals: unknown[] = [];
  const messages: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.history(id, { limit: 200, ...(cursor !== undefined && { cursor }) });
    for (const { type, data } of page.items) {
      if (type === "signal-received") signals.push(Object(data).broadcastId);
      if (type === "message-received") messages.push(Object(data).messageId);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { signals, messages };
}
