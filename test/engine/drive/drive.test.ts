import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Message } from "../../../lib/ports/message.ts";
import type { TaskHandler, TaskOutcome } from "../../../lib/ports/tasks.ts";
import { end, extensions, file, flow, job, process, start, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const task = (id: string) => xml("serviceTask", { id }, extensions(job(id, { retries: "1" })));

/** Two tasks, one after the other. */
const source = file(
  process(
    start(),
    task("first"),
    task("pay"),
    end(),
    flow("f1", "start", "first"),
    flow("f2", "first", "pay"),
    flow("f3", "pay", "end"),
  ),
);

const LEASE_MS = 60_000;
const completed: TaskOutcome = { kind: "completed", variables: { paid: true } };
const notRun: TaskOutcome = { kind: "not-run", retryAfterMs: 3_000 };

/** A world in which the test controls the second task; `first` completes at once. */
async function aWorld({
  run = async () => completed,
  mayContinue = false,
  busyAt,
  ...how
}: Partial<TaskHandler> & Readonly<{ mayContinue?: boolean; busyAt?: number }> = {}) {
  const store = new SimulatedStore({});
  busyOnce(store, busyAt);
  const plain = { timeoutMs: 1_000, isolate: false, exclusive: false };
  const world = aPlainWorld({
    store,
    handlers: {
      first: { ...plain, run: async () => ({ kind: "completed", variables: {} }) },
      pay: { ...plain, ...how, run },
    },
  });
  await world.engine.deploy({ notation: "bpmn", source });
  await world.engine.start("p", { instanceId: "one" });
  const first = taken(world);
  const verdict = await deliver(world, first, "starter", mayContinue);
  return { ...world, verdict };
}

/** The one message that is queued; it is taken out of the queue. */
function taken({ queued }: Pick<PlainWorld, "queued">): Message {
  const [message, ...others] = queued.splice(0);
  if (message === undefined || others.length > 0) throw new Error("there is not one message");
  return message;
}

const deliver = (
  { engine, now }: Pick<PlainWorld, "engine" | "now">,
  message: Message,
  id: string,
  mayContinue = false,
) => engine.handle(message, { id, until: instantFrom(now() + LEASE_MS), mayContinue });

const incidentsOf = async ({ engine }: Pick<PlainWorld, "engine">) =>
  (await engine.get("one")).incidents;

/** The store is busy for the commit of an instance with this number. */
function busyOnce(store: SimulatedStore, number: number | undefined): void {
  const commit = store.commit.bind(store);
  let count = 0;
  store.commit = async (writes) => {
    const [first] = writes;
    const isInstance = "put" in first && first.put.key.sk === "S";
    if (isInstance && ++count === number) return { kind: "busy", retryAfterMs: 50 };
    return commit(writes);
  };
}

/** User code that never ends; `began` resolves when it runs. */
function hanging() {
  const { promise: began, resolve } = Promise.withResolvers<void>();
  const run = () => {
    resolve();
    return new Promise<TaskOutcome>(() => {});
  };
  return { run, began };
}

describe("an exclusive task", () => {
  test("has a known outcome while the run that claimed it may still be running", async () => {
    const { promise, resolve } = Promise.withResolvers<TaskOutcome>();
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    const run = () => {
      begin();
      return promise;
    };
    const world = await aWorld({ exclusive: true, run });
    const message = taken(world);
    const running = deliver(world, message, "a");
    await began;

    world.moveTo(world.now() + 20_000);
    const second = await deliver(world, message, "b");
    resolve(completed);

    expect(second).toEqual({ keepForMs: LEASE_MS - 20_000 });
    expect(await running).toBe("release");
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", incidents: [] });
  });

  test("has an unknown outcome once the lease of that run has expired", async () => {
    const { run, began } = hanging();
    const world = await aWorld({ exclusive: true, run });
    const message = taken(world);
    void deliver(world, message, "a");
    await began;

    world.moveTo(world.now() + LEASE_MS);
    const second = await deliver(world, message, "b");

    expect(second).toBe("release");
    expect(await incidentsOf(world)).toMatchObject([
      { message: expect.stringMatching(/may have done/) },
    ]);
  });

  test("that was delivered too often is not given up while a run of it may be running", async () => {
    const { run, began } = hanging();
    const world = await aWorld({ exclusive: true, run });
    const message = taken(world);
    void deliver(world, message, "a");
    await began;

    const gaveUp = await world.engine.giveUp(message, {
      id: "b",
      until: world.now(),
      mayContinue: false,
    });

    expect(gaveUp).toEqual({ keepForMs: LEASE_MS });
    expect(await incidentsOf(world)).toEqual([]);
  });

  test("that cannot be claimed because the store is busy is redelivered after a pause", async () => {
    const world = await aWorld({ exclusive: true, busyAt: 3 });
    const message = taken(world);

    const verdict = await deliver(world, message, "a");

    expect(verdict).toEqual({ keepForMs: expect.any(Number) });
    expect(verdict).not.toEqual({ keepForMs: 0 });
    expect(await deliver(world, message, "b")).toBe("release");
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("that cannot be claimed in place goes to the queue", async () => {
    // The third commit of the instance is the claim: after its start and its first task.
    const world = await aWorld({ exclusive: true, mayContinue: true, busyAt: 3 });

    expect(world.verdict).toBe("release");
    expect(await deliver(world, taken(world), "a")).toBe("release");
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", incidents: [] });
  });
});

describe("a task that was not run", () => {
  test("keeps its attempt, and its message is redelivered", async () => {
    const outcomes = [notRun, completed];
    const world = await aWorld({ run: async () => outcomes.shift() ?? completed });
    const message = taken(world);
    const before = world.commits.length;

    const verdict = await deliver(world, message, "a");

    expect(verdict).toEqual({ keepForMs: 3_000 });
    expect(world.commits).toHaveLength(before);
    expect(await deliver(world, message, "b")).toBe("release");
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("although it was claimed has no unknown outcome", async () => {
    const outcomes = [notRun, notRun, completed];
    const run = async () => outcomes.shift() ?? completed;
    const world = await aWorld({ exclusive: true, run });
    const message = taken(world);

    const verdicts = [await deliver(world, message, "a"), await deliver(world, message, "b")];

    expect(verdicts).toEqual([{ keepForMs: 3_000 }, { keepForMs: 3_000 }]);
    expect(await deliver(world, message, "c")).toBe("release");
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", incidents: [] });
  });

  test.each([true, false])(
    "in place goes to the queue, exclusive or not: %s",
    async (exclusive) => {
      const outcomes = [notRun, completed];
      const run = async () => outcomes.shift() ?? completed;
      const world = await aWorld({ exclusive, run, mayContinue: true });

      expect(world.verdict).toBe("release");
      expect(world.queued).toMatchObject([
        { kind: "task", type: "pay", attempt: 1, notBefore: world.now() + 3_000 },
      ]);
      expect(await deliver(world, taken(world), "b")).toBe("release");
      expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", incidents: [] });
    },
  );
});

describe("a task whose timeout is longer than the invocation", () => {
  test("is sent again, to the queue for its timeout, and was not run", async () => {
    let runs = 0;
    const run = async () => {
      runs += 1;
      return completed;
    };
    const world = await aWorld({ timeoutMs: LEASE_MS + 1, run });
    const message = taken(world);

    const verdict = await deliver(world, message, "a");

    expect(verdict).toBe("release");
    expect(runs).toBe(0);
    expect(world.queued).toEqual([message]);
    const until = instantFrom(world.now() + LEASE_MS + 1);
    expect(await world.engine.handle(taken(world), { id: "b", until, mayContinue: false })).toBe(
      "release",
    );
    expect(runs).toBe(1);
  });
});
