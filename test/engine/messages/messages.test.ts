import { describe, expect, test } from "vitest";
import { MAX_WAITS_PER_STEP } from "../../../lib/definition/limits.ts";
import {
  aMessage,
  beside,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  onMessage,
  process,
  start,
  xml,
} from "../../support/bpmn-xml.ts";
import { GatedStore, writesInstance, writesMailbox } from "../../support/gated-store.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const UNKNOWN = { code: "engine/outcome-unknown" };

const task = xml("serviceTask", { id: "work" }, extensions(job("work")));
/** Waits for its payment, then works; with the id `p` by default. */
const paid = (id = "p") =>
  beside(
    file(
      process(
        start(),
        catching("wait", onMessage("payment")),
        task,
        end(),
        flow("f1", "start", "wait"),
        flow("f2", "wait", "work"),
        flow("f3", "work", "end"),
      ).replace('id="p"', `id="${id}"`),
    ),
    aMessage("payment", { key: "=order" }),
  );
const payment = { name: "payment", correlationKey: "a", messageId: "m" };

async function aWorld(...ids: readonly string[]) {
  const gated = new GatedStore();
  const ran: string[] = [];
  const world = aPlainWorld({
    store: gated.store,
    tasks: {
      work: ({ order }) => {
        ran.push(String(order));
        return {};
      },
    },
  });
  for (const id of ids.length > 0 ? ids : ["p"]) {
    await world.engine.deploy({ notation: "bpmn", source: paid(id) });
  }
  return { gated, world, ran };
}

const begin = ({ engine }: PlainWorld, instanceId: string, definition = "p") =>
  engine.start(definition, { instanceId, variables: { order: "a" } });

const statusOf = async ({ engine }: PlainWorld, id: string) => (await engine.get(id)).status;

async function timesReceived({ engine }: PlainWorld, id: string): Promise<number> {
  const { items } = await engine.history(id, { limit: 100 });
  return items.filter(({ type }) => type === "message-received").length;
}

describe("a message and a concurrent wait", () => {
  test("F42 match when the message comes directly before the wait is committed", async () => {
    const { gated, world, ran } = await aWorld();
    let answer: unknown;
    gated.before(writesInstance("one"), async () => {
      answer = await world.engine.message(payment);
    });

    await begin(world, "one");
    await world.drain();

    expect(answer).toMatchObject({ outcome: "buffered" });
    expect(await statusOf(world, "one")).toBe("succeeded");
    expect(ran).toEqual(["a"]);
  });

  test("F42 match when the wait opens directly before the message is kept", async () => {
    const { gated, world, ran } = await aWorld();
    gated.before(writesMailbox, async () => {
      await begin(world, "one");
    });

    const answer = await world.engine.message(payment);
    await world.drain();

    expect(answer).toMatchObject({ outcome: "delivered", instanceId: "one" });
    expect(await statusOf(world, "one")).toBe("succeeded");
    expect(ran).toEqual(["a"]);
  });

  test("F47 leave the message to the next wait when the wait closes directly before it is taken", async () => {
    const { gated, world, ran } = await aWorld();
    await begin(world, "one");
    await world.drain();
    gated.before(writesInstance("one"), () => world.engine.cancel("one"));

    const answer = await world.engine.message(payment);
    await world.drain();

    expect(answer).toMatchObject({ outcome: "buffered" });
    expect(await statusOf(world, "one")).toBe("cancelled");
    await begin(world, "two");
    await world.drain();
    expect(await statusOf(world, "two")).toBe("succeeded");
    expect(ran).toEqual(["a"]);
  });
});

describe("a caller that crashes", () => {
  test("before anything was stored leaves nothing, and may repeat the message", async () => {
    const { gated, world, ran } = await aWorld();
    await begin(world, "one");
    await world.drain();
    gated.kill(() => true);
    await expect(world.engine.message(payment)).rejects.toMatchObject(UNKNOWN);
    world.queued.length = 0;
    gated.kill();

    expect(await world.engine.message(payment)).toMatchObject({ outcome: "delivered" });
    await world.drain();
    expect(await timesReceived(world, "one")).toBe(1);
    expect(ran).toEqual(["a"]);
  });

  test("after the message was kept for several leaves it to a re-check, and each takes it once", async () => {
    const { gated, world, ran } = await aWorld("p", "q");
    await begin(world, "one", "p");
    await begin(world, "two", "q");
    await world.drain();
    gated.kill((keys) => writesInstance("one")(keys) || writesInstance("two")(keys));
    await expect(world.engine.message(payment)).rejects.toMatchObject(UNKNOWN);
    world.queued.length = 0;
    gated.kill();

    const report = await world.engine.recover();
    await world.drain();

    expect(report).toMatchObject({ mailboxesPoked: 1 });
    for (const id of ["one", "two"]) {
      expect(await statusOf(world, id)).toBe("succeeded");
      expect(await timesReceived(world, id)).toBe(1);
    }
    expect(ran).toEqual(["a", "a"]);
    expect(await world.engine.message(payment)).toMatchObject({ outcome: "duplicate" });
    expect(await world.engine.recover()).toMatchObject({ mailboxesPoked: 0 });
  });
});

describe("a step that opens many waits", () => {
  /** A fork into this many waits, each with its own key. */
  const forkOf = (count: number) => {
    const ids = Array.from({ length: count }, (_, n) => `w${n}`);
    return beside(
      file(
        process(
          start(),
          ...ids.map((id) => catching(id, onMessage(`m-${id}`))),
          ...ids.map((id) => flow(`f-${id}`, "start", id)),
        ),
      ),
      ...ids.map((id) => aMessage(`m-${id}`, { name: "payment", key: `="${id}"` })),
    );
  };

  test.each([
    [MAX_WAITS_PER_STEP, "in one", 1],
    [MAX_WAITS_PER_STEP + 1, "in two", 2],
  ])("%d of them, does so %s, and every one is reached", async (count, _, steps) => {
    const world = aPlainWorld();
    await world.engine.deploy({ notation: "bpmn", source: forkOf(count) });
    await world.engine.start("p", { instanceId: "one" });
    await world.drain();

    expect(world.commits).toHaveLength(steps);
    expect((await world.engine.waits("one")).items).toHaveLength(count);
    for (let n = 0; n < count; n++) {
      const message = { name: "payment", correlationKey: `w${n}`, timeToLive: "PT0S" };
      expect(await world.engine.message(message)).toMatchObject({ outcome: "delivered" });
      await world.drain();
    }
    expect(await statusOf(world, "one")).toBe("succeeded");
  });
});
