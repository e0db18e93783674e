import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { MAX_OPEN_TASKS_BEFORE_PARKING } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Observation } from "../../../lib/engine/world.ts";
import type { Message } from "../../../lib/ports/message.ts";
import type { Store } from "../../../lib/ports/store.ts";
import {
  aSignal,
  beside,
  catching,
  end,
  file,
  flow,
  onSignal,
  process,
  sequence,
  service,
  start,
  timer,
} from "../../support/bpmn-xml.ts";
import { GatedStore, writesInstance } from "../../support/gated-store.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const one = sequence(service("work"));
const two = file(
  process(
    start(),
    service("work"),
    service("more"),
    end(),
    flow("f1", "start", "work"),
    flow("f2", "work", "more"),
    flow("f3", "more", "end"),
  ),
);
const waiting = sequence(catching("wait", timer("timeDuration", "PT1M")));
const listening = beside(sequence(catching("wait", onSignal("go"))), aSignal("go"));
const LEASE_MS = 900_000;

describe("the observations of an engine", () => {
  test("are none if all goes well", async () => {
    const world = await aWorld(two);

    await world.drain();

    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
    expect(world.seen).toEqual([]);
  });

  test("include a task that is redelivered after its attempt", async () => {
    const world = await aWorld(one);
    const message = taken(world);
    await handle(world, message, "a");

    await handle(world, message, "b");

    expect(world.seen).toEqual([{ kind: "stale", instanceId: "one", fact: "task" }]);
  });

  test("include a result that came too late: the task was already finished", async () => {
    const { store, ...gates } = gated();
    const world = await aWorld(one, store);
    const message = taken(world);
    gates.before(writesInstance("one"), () => handle(world, message, "b"));

    await handle(world, message, "a");

    expect(world.seen).toEqual([{ kind: "stale", instanceId: "one", fact: "task-completed" }]);
  });

  test("include a timer that fires a second time", async () => {
    const world = await aWorld(waiting);
    const due: Message = { kind: "timer", tenant: "default", instanceId: "one", ticket: "t1.1" };
    world.moveTo(world.now() + 60_000);
    await handle(world, due, "a");

    await handle(world, due, "b");

    expect(world.seen).toEqual([{ kind: "stale", instanceId: "one", fact: "timer-due" }]);
  });

  test("include a parked fact without effect, but not the copy of a call", async () => {
    const world = await aWorld(one);
    await world.engine.cancel("one");
    const about = { tenant: "default", instanceId: "one" };
    const fact = { kind: "task-completed", ticket: "k1.1", variables: {} } as const;
    const request = { id: "r", body: "b", answer: 200, base: 1 };
    await world.drain();
    world.seen.length = 0;

    await handle(world, { kind: "parked", ...about, name: "k1.1/1", fact }, "a");
    await handle(world, { kind: "parked", ...about, name: "k1.1", fact, request }, "b");

    expect(world.seen).toEqual([{ kind: "stale", instanceId: "one", fact: "task-completed" }]);
  });

  test("include a broadcast to a wait that was closed another way", async () => {
    const { store, ...gates } = gated();
    const world = await aWorld(listening, store);
    await world.drain();
    gates.kill(writesInstance("one"));
    await world.engine.signal({ name: "go", id: "b" });
    gates.kill();
    await handle(world, taken(world), "bus");
    await world.engine.cancel("one");

    await world.drain();

    expect(world.seen).toEqual([
      { kind: "stale", instanceId: "one", fact: "signal-received" },
      { kind: "page-delivered", broadcastId: "b", matched: 1, ms: 0 },
    ]);
  });

  test("include that a live owner was left alone, and that a dead one was taken over", async () => {
    const world = await aWorld(two);
    const message = taken(world);
    await handle(world, message, "a");

    const verdict = await handle(world, message, "b");
    world.moveTo(world.now() + LEASE_MS);
    await handle(world, message, "c");

    expect(verdict).toEqual({ keepForMs: LEASE_MS });
    expect(world.seen).toEqual([
      { kind: "left-to-owner", instanceId: "one" },
      { kind: "taken-over", instanceId: "one", name: "k1.1/1" },
    ]);
  });

  test("include a commit that is read half applied", async () => {
    const meanwhile: (() => Promise<unknown>)[] = [];
    const world = await aWorld(listening, rowsFirst(meanwhile), []);
    meanwhile.push(() => world.engine.signal({ name: "go", id: "b" }));

    await world.engine.start("p", { instanceId: "one" });

    expect(world.seen).toEqual([{ kind: "fenced", instanceId: "one" }]);
    await world.drain();
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("include an outcome that waits in the queue of a contended instance", async () => {
    const crowd = Array.from({ length: MAX_OPEN_TASKS_BEFORE_PARKING + 1 }, (_, n) => `work${n}`);
    const source = file(
      process(start(), ...crowd.flatMap((id) => [service(id), flow(`to-${id}`, "start", id)])),
    );
    const world = await aWorld(source);

    await world.drain();

    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
    expect(world.seen).toContainEqual({ kind: "outcome-parked", instanceId: "one" });
  });

  test("include how long an entry was overdue when a sweep sends it", async () => {
    const world = await aWorld(waiting);
    world.moveTo(world.now() + 60_000 + 75_000);

    await world.engine.sweep({ index: 0, of: 1 });

    expect(world.seen).toEqual([{ kind: "swept", lateMs: 75_000 }]);
  });

  test("include how many waits a broadcast reached, and after what time", async () => {
    const world = await aWorld(listening, new SimulatedStore({}), ["one", "two", "three"]);
    await world.drain();
    await world.engine.signal({ name: "go", id: "b" });
    world.moveTo(world.now() + 5_000);

    await world.drain();

    expect(world.seen).toEqual([
      { kind: "page-delivered", broadcastId: "b", matched: 3, ms: 5_000 },
    ]);
  });

  test("include how many messages a mailbox keeps, without expired ones", async () => {
    const world = await aWorld(one, new SimulatedStore({}), []);
    const message = { name: "payment", correlationKey: "a", timeToLive: "PT1M" };

    await world.engine.message(message);
    await world.engine.message(message);
    world.moveTo(world.now() + 60_000);
    await world.engine.message(message);

    expect(world.seen.map((it) => it.kind === "message-kept" && it.depth)).toEqual([1, 2, 1]);
  });
});

/** Instances of the process, and everything that was observed since they started. */
async function aWorld(
  source: string,
  store: Store = new SimulatedStore({}),
  instances: readonly string[] = ["one"],
) {
  const seen: Observation[] = [];
  const tasks = new Proxy({}, { get: () => () => ({}) });
  const observe = (observation: Observation) => void seen.push(observation);
  const world = aPlainWorld({ store, tasks, mayContinue: false, observe });
  await world.engine.deploy({ notation: "bpmn", source });
  for (const instanceId of instances) await world.engine.start("p", { instanceId });
  return { ...world, seen };
}

function gated() {
  const store = new GatedStore();
  return {
    store: store.store,
    before: store.before.bind(store),
    kill: store.kill.bind(store),
  };
}

/** A store that applies a transaction from its end, and runs something in between. */
function rowsFirst(meanwhile: (() => Promise<unknown>)[]): Store {
  return new SimulatedStore({
    turn: async (point) => {
      if (point === "commit:half") await meanwhile.shift()?.();
      return point === "commit:before" ? { fault: "reversed" } : undefined;
    },
  });
}

const handle = ({ engine, now }: PlainWorld, message: Message, id: string) =>
  engine.handle(message, { id, until: instantFrom(now() + LEASE_MS), mayContinue: false });

/** The one message that is queued; it is taken out of the queue. */
function taken({ queued }: PlainWorld): Message {
  const [message, ...others] = queued.splice(0);
  if (message === undefined || others.length > 0) throw new Error("there is not one message");
  return message;
}
