import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Message } from "../../../lib/ports/message.ts";
import { end, extensions, file, flow, job, process, start, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const task = (id: string, retries: number) =>
  xml("serviceTask", { id }, extensions(job(id, { retries: String(retries) })));

/** Two tasks, one after the other. */
const source = (retries: number) =>
  file(
    process(
      start(),
      task("first", retries),
      task("second", retries),
      end(),
      flow("f1", "start", "first"),
      flow("f2", "first", "second"),
      flow("f3", "second", "end"),
    ),
  );

async function aWorld(
  retries: number,
  tasks: readonly string[] = ["first", "second"],
  store = new SimulatedStore({}),
) {
  const world = aPlainWorld({
    store,
    tasks: Object.fromEntries(tasks.map((type) => [type, () => ({})])),
    mayContinue: false,
  });
  await world.engine.deploy({ notation: "bpmn", source: source(retries) });
  return world;
}

const giveUp = ({ engine, now }: PlainWorld, message: Message) =>
  engine.giveUp(message, { id: "dead-letters", until: now(), mayContinue: false });

/** The one message that is queued; it is taken out of the queue. */
function taken({ queued }: PlainWorld): Message {
  const [message, ...others] = queued.splice(0);
  if (message === undefined || others.length > 0) throw new Error("there is not one message");
  return message;
}

/** Another writer is first, once. */
class InterruptedStore extends SimulatedStore {
  meanwhile: (() => Promise<void>) | undefined;

  override async commit(...write: Parameters<SimulatedStore["commit"]>) {
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    return super.commit(...write);
  }
}

describe("a task that was delivered too often", () => {
  test("has failed, and gets its next attempt", async () => {
    const world = await aWorld(2);
    await world.engine.start("p", { instanceId: "one" });

    const verdict = await giveUp(world, taken(world));

    expect(verdict).toBe("release");
    expect(world.queued).toMatchObject([{ kind: "task", ticket: "k1.1", attempt: 2 }]);
    await world.drain();
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("without retries left has an incident that says why", async () => {
    const world = await aWorld(1);
    await world.engine.start("p", { instanceId: "one" });

    await giveUp(world, taken(world));

    const { incidents } = await world.engine.get("one");
    expect(incidents).toMatchObject([
      { element: "first", message: expect.stringMatching(/could not be delivered.*throttled/) },
    ]);
    const [incident] = incidents;
    await world.engine.resolveIncident("one", incident?.incidentId ?? "", { retries: 1 });
    await world.drain();
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("starts the instance that only this message carries", async () => {
    const world = await aWorld(1);
    const elsewhere = await aWorld(1);
    await elsewhere.engine.start("p", { instanceId: "one" });

    await giveUp(world, taken(elsewhere));

    expect((await world.engine.get("one")).incidents).toMatchObject([{ element: "first" }]);
  });

  test("and was completed meanwhile gets what its step owes sent again", async () => {
    const world = await aWorld(1);
    await world.engine.start("p", { instanceId: "one" });
    const first = taken(world);
    const until = instantFrom(world.now() + 60_000);
    await world.engine.handle(first, { id: "died", until, mayContinue: false });
    const lost = taken(world);
    world.moveTo(until);

    const verdict = await giveUp(world, first);

    expect(verdict).toBe("release");
    expect(world.queued).toEqual([lost]);
    expect((await world.engine.get("one")).incidents).toEqual([]);
  });

  test("only because it was early is sent again, and has not failed", async () => {
    const world = await aWorld(2);
    await world.engine.start("p", { instanceId: "one" });
    await world.engine.failTask("one.k1.1", { message: "not now", retryAfter: "PT10M" });
    world.queued.length = 0;
    const early = {
      kind: "task",
      tenant: "default",
      instanceId: "one",
      ticket: "k1.1",
      attempt: 2,
      type: "first",
    } as const;

    await giveUp(world, early);

    expect(world.queued).toMatchObject([
      { ...early, notBefore: instantFrom(world.now() + 600_000) },
    ]);
  });

  test("and has no handler any more is offered to workers", async () => {
    const world = await aWorld(1, []);
    const elsewhere = await aWorld(1);
    await elsewhere.engine.start("p", { instanceId: "one" });

    await giveUp(world, taken(elsewhere));

    expect((await world.engine.get("one")).incidents).toEqual([]);
    const { items } = await world.engine.tasks({ type: "first" }, { limit: 10 });
    expect(items).toMatchObject([{ instanceId: "one", element: "first" }]);
  });

  test("and was handed back has not failed: its message is void", async () => {
    const store = new SimulatedStore({});
    const world = await aWorld(2, undefined, store);
    const without = await aWorld(2, [], store);
    await world.engine.start("p", { instanceId: "one" });
    const message = taken(world);
    await giveUp(without, message);

    const verdict = await giveUp(world, message);

    expect(verdict).toBe("release");
    expect(world.queued).toEqual([]);
    expect(world.commits.at(-1)?.tickets).toMatchObject([{ id: "k1.1", attempt: 1 }]);
    const { items } = await world.engine.tasks({ type: "first" }, { limit: 10 });
    expect(items).toMatchObject([{ instanceId: "one", element: "first" }]);
  });

  test("and is handed back at that moment has its failure parked, which owes what follows", async () => {
    const store = new InterruptedStore({});
    const world = await aWorld(2, undefined, store);
    const without = await aWorld(2, [], store);
    await world.engine.start("p", { instanceId: "one" });
    const message = taken(world);
    store.meanwhile = async () => void (await giveUp(without, message));

    const verdict = await giveUp(world, message);

    expect(verdict).toBe("release");
    expect(world.queued).toMatchObject([
      { kind: "parked", name: "k1.1/1", fact: { kind: "task-failed", attempt: 1 } },
    ]);
    await world.drain();
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("is dropped when its instance is gone", async () => {
    const world = await aWorld(1);
    const gone = { kind: "task", tenant: "default", instanceId: "never", type: "first" } as const;

    expect(await giveUp(world, { ...gone, ticket: "k1.1", attempt: 1 })).toBe("release");
  });
});

describe("another message that was delivered too often", () => {
  test("is handled once more: it may be the only copy", async () => {
    const world = await aWorld(1);
    await world.engine.start("p", { instanceId: "one" });
    const { ticket } = taken(world) as Extract<Message, { kind: "task" }>;
    const fact = { kind: "task-completed", ticket, variables: {} } as const;

    const verdict = await giveUp(world, {
      kind: "parked",
      tenant: "default",
      instanceId: "one",
      name: `${ticket}/1`,
      fact,
    });

    expect(verdict).toBe("release");
    expect(world.queued).toMatchObject([{ kind: "task", type: "second" }]);
  });
});
