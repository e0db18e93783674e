import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { describe, expect, test } from "vitest";
import {
  aSignal,
  catching,
  end,
  file,
  flow,
  onSignal,
  start,
  throwing,
  xml,
} from "../support/bpmn-xml.ts";
import {
  aProcess,
  chain,
  client,
  ended,
  eventually,
  fresh,
  target,
  task,
  waiting,
} from "../support/deployed.ts";
import { output } from "../support/deployed-queues.ts";
import { everyMessage } from "../support/every-message.ts";

const events = new EventBridgeClient({ region: target.region });

const CROWD = 1_000;
/** Starts in progress at once. */
const HANDS = 12;

const listening = (id: string, signal: string) =>
  chain(id, [catching("told", onSignal("s"))], aSignal("s", signal));

describe.concurrent("a deployed signal", () => {
  test("F30 F33 reaches every wait once, with its payload", async ({ expect }) => {
    const [id, name] = [fresh("listeners"), fresh("opened")];
    await client.deploy(listening(id, name));
    const waiters = await Promise.all([1, 2, 3].map(() => client.start(id)));
    for (const { instanceId } of waiters) await waiting(instanceId, "signal");

    const { broadcastId } = await client.signal({ name, payload: { door: 7 } });

    for (const { instanceId } of waiters) {
      expect(await ended(instanceId)).toMatchObject({ variables: { door: 7 } });
    }
    const receipt = await complete(broadcastId);
    expect(receipt).toMatchObject({ matched: 3, delivered: 3, started: 0, failed: [] });
  });

  test("F40 without a wait reaches none, and is not kept", async ({ expect }) => {
    const [id, name] = [fresh("too-late"), fresh("opened")];
    await client.deploy(listening(id, name));

    const early = await client.signal({ name });
    const { instanceId } = await client.start(id);
    await waiting(instanceId, "signal");

    expect(early).toMatchObject({ deliveredCount: 0, startedCount: 0 });
    expect(await client.signal({ name })).toMatchObject({ deliveredCount: 1 });
    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
  });

  test("F40 with the same id is the same broadcast", async ({ expect }) => {
    const [id, name] = [fresh("once"), fresh("opened")];
    await client.deploy(listening(id, name));
    const first = await client.start(id);
    await waiting(first.instanceId, "signal");

    const broadcast = fresh("broadcast");
    const answer = await client.signal({ name, id: broadcast });
    await ended(first.instanceId);
    const second = await client.start(id);
    await waiting(second.instanceId, "signal");
    const repeated = await client.signal({ name, id: broadcast });

    expect(repeated).toEqual(answer);
    expect(await client.get(second.instanceId)).toMatchObject({ status: "suspended" });
    await client.cancel(second.instanceId);
  });

  test("F31 F37 F41 thrown by a workflow resumes one that waits and starts another", async ({
    expect,
  }) => {
    const [catcher, thrower, begun] = [fresh("catcher"), fresh("thrower"), fresh("begun")];
    const name = fresh("thrown");
    await client.deploy(listening(catcher, name));
    await client.deploy(chain(thrower, [throwing("tell", onSignal("s"))], aSignal("s", name)));
    await client.deploy(
      file(
        aProcess(begun, start("start", onSignal("s")), end(), flow("f1", "start", "end")),
        aSignal("s", name),
      ),
    );
    const waiter = await client.start(catcher);
    await waiting(waiter.instanceId, "signal");

    const { instanceId } = await client.start(thrower);

    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    expect(await ended(waiter.instanceId)).toMatchObject({ status: "succeeded" });
    const [started] = await eventually("the one it starts", async () => {
      const { items } = await client.list({ definition: begun });
      return items.length > 0 && items;
    });
    expect(await ended(started?.instanceId ?? "")).toMatchObject({ status: "succeeded" });
    expect((await client.list({ definition: begun })).items).toHaveLength(1);
  });

  test("F38 is blocked by no failing instance, and its receipt names those that failed", async ({
    expect,
  }) => {
    const [id, name] = [fresh("one-fails"), fresh("opened")];
    const which = xml("exclusiveGateway", { id: "which" });
    await client.deploy(
      file(
        aProcess(
          id,
          start(),
          catching("told", onSignal("s")),
          which,
          end(),
          flow("f1", "start", "told"),
          flow("f2", "told", "which"),
          flow("f3", "which", "end", "=good"),
          flow("f4", "which", "end", "=odd"),
        ),
        aSignal("s", name),
      ),
    );
    const begin = (good: boolean) => client.start(id, { variables: { good, odd: false } });
    const [one, bad, two] = [await begin(true), await begin(false), await begin(true)];
    for (const { instanceId } of [one, bad, two]) await waiting(instanceId, "signal");

    const { broadcastId } = await client.signal({ name });

    for (const { instanceId } of [one, two]) {
      expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    }
    const { incidentId } = await waiting(bad.instanceId, "incident");
    expect(await complete(broadcastId)).toMatchObject({
      matched: 3,
      delivered: 2,
      failed: [{ instanceId: bad.instanceId, incidentId }],
    });
    await client.cancel(bad.instanceId);
  });

  test("can be requested by other applications, with an event on the bus", async ({ expect }) => {
    const [id, name] = [fresh("from-outside"), fresh("opened")];
    await client.deploy(listening(id, name));
    const { instanceId } = await client.start(id);
    await waiting(instanceId, "signal");

    await put("example.warehouse", "signal-requested", { name, payload: { door: 9 } });

    expect(await ended(instanceId)).toMatchObject({ variables: { door: 9 } });
  });

  test("is all that the bus accepts: internal messages cannot be forged on it", async ({
    expect,
  }) => {
    const [id, name] = [fresh("forged"), fresh("opened")];
    await client.deploy(listening(id, name));
    await client.deploy(chain(`${id}-task`, [task("by-a-worker")]));
    const { instanceId } = await client.start(`${id}-task`);
    const { taskId = "" } = await waiting(instanceId, "task");
    const before = await client.get(instanceId);
    const unborn = fresh("unborn");

    const ticket = taskId.slice(instanceId.length + 1);
    const fact = { kind: "task-completed", ticket, variables: {} };
    const completed = { kind: "parked", tenant: "default", instanceId, name: ticket, fact };
    const forged = [
      ...everyMessage,
      completed,
      { ...completed, kind: "broadcast", broadcastId: "b" },
    ];
    for (const message of forged) {
      const whose = "start" in message ? { instanceId: unborn } : { instanceId };
      await put("fermata", "signal-accepted", { v: 2, ...message, ...whose });
    }
    // What was put on the bus after them has arrived: so have they.
    const listener = await client.start(id);
    await waiting(listener.instanceId, "signal");
    await put("fermata", "signal-requested", { name });
    await ended(listener.instanceId);

    expect(await client.get(instanceId)).toEqual(before);
    await expect(client.get(unborn)).rejects.toMatchObject({ code: "instance/not-found" });
    await client.cancel(instanceId);
  });
});

describe("a signal to many waits", () => {
  test(`F33 reaches ${CROWD} waits, each once, and its receipt counts them`, async () => {
    const [id, name] = [fresh("crowd"), fresh("opened")];
    const gate = chain(id, [catching("told", onSignal("s")), task("ship")], aSignal("s", name));
    await client.deploy(gate);
    const crowd = await startMany(id, CROWD);
    const all = async (status: "suspended" | "succeeded") =>
      (await count({ definition: id, status })) === CROWD;
    await eventually(
      "all to wait",
      async () => (await none(id, "running")) && all("suspended"),
      300_000,
    );

    const { broadcastId } = await client.signal({ name, payload: { door: 7 } });

    const receipt = await complete(broadcastId);
    expect(receipt).toMatchObject({ matched: CROWD, delivered: CROWD, skipped: 0, failed: [] });
    for (const instanceId of sample(crowd, 20)) {
      expect(await ended(instanceId)).toMatchObject({ variables: { door: 7, shipped: true } });
    }
    await eventually(
      "all to end",
      async () => (await none(id, "suspended", "running")) && all("succeeded"),
      300_000,
    );
  }, 900_000);
});

/** Puts an event on the bus, as every permitted publisher can. */
async function put(source: string, type: string, detail: object): Promise<void> {
  const Detail = JSON.stringify(detail);
  const entry = { EventBusName: output("BusName"), Source: source, DetailType: type, Detail };
  const { FailedEntryCount } = await events.send(new PutEventsCommand({ Entries: [entry] }));
  expect(FailedEntryCount).toBe(0);
}

/** The receipt, once its counts are final. */
function complete(broadcastId: string) {
  return eventually(
    `the receipt of ${broadcastId}`,
    async () => {
      const receipt = await client.receipt(broadcastId);
      return receipt.complete && receipt;
    },
    300_000,
  );
}

async function startMany(id: string, count: number): Promise<readonly string[]> {
  const started: string[] = [];
  let begun = 0;
  const hand = async () => {
    while (begun++ < count) {
      const instanceId = fresh("one");
      await eventually("a start", () => client.start(id, { instanceId }));
      started.push(instanceId);
    }
  };
  await Promise.all(Array.from({ length: HANDS }, hand));
  return started;
}

/**
 * Whether none is left in this status: the first row shows it, without delaying running instances.
 */
async function none(definition: string, ...statuses: readonly ("running" | "suspended")[]) {
  for (const status of statuses) {
    const { items } = await client.list({ definition, status, limit: 1 });
    if (items.length > 0) return false;
  }
  return true;
}

async function count(
  filter: Readonly<{ definition: string; status: "suspended" | "succeeded" }>,
): Promise<number> {
  let counted = 0;
  let cursor: string | undefined;
  do {
    const page = await client.list({ ...filter, limit: 200, ...(cursor && { cursor }) });
    counted += page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined && counted <= CROWD);
  return counted;
}

/** Some of them, spread evenly. */
const sample = (all: readonly string[], count: number): readonly string[] =>
  all.filter((_, n) => n % Math.ceil(all.length / count) === 0);
