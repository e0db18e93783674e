/**
 * A tour through everything that reads what others have stored: lists, polls, deliveries, sweeps, a
 * recovery and a purge, over a store with an item of every kind. Each stop gives a short text, so
 * that two tours can be compared.
 */
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";
import { WAITING } from "./every-kind.ts";
import { NEWER } from "./every-newer-kind.ts";
import type { PlainWorld } from "./plain-world.ts";

/** The result of each stop: names in order, or the code of its refusal. */
export type Tour = Readonly<Record<string, readonly string[] | string>>;

type Said = readonly string[];
type Stop = (world: PlainWorld) => Promise<Said>;

/** The name of a workflow that waits for the event `news`. */
export const NEWS_READER = "news-reader";

const PAGE = { limit: 200 };
const HOUR = 3_600_000;
const SLICE = { index: 0, of: 1 };

const instances = (items: readonly Readonly<{ instanceId: string }>[]): Said =>
  items.map(({ instanceId }) => instanceId).sort();
const tasks = (items: readonly Readonly<{ taskId: string }>[]): Said =>
  items.map(({ taskId }) => taskId).sort();

const poll =
  (type: string): Stop =>
  async ({ engine }) => {
    const about = { type, max: 20, lockSeconds: 60, worker: "tourist" };
    return tasks((await engine.activate(about)).tasks);
  };

const status =
  (instanceId: string): Stop =>
  async ({ engine }) => [(await engine.get(instanceId)).status];

/** The instances whose timers were armed meanwhile. */
async function armedBy(world: PlainWorld, act: () => Promise<unknown>): Promise<Said> {
  const { armed, armedStarts } = world;
  const before = [armed.length, armedStarts.length];
  await act();
  const timers = armed.slice(before[0]).map(({ instanceId }) => instanceId);
  const starts = armedStarts.slice(before[1]).map(({ definitionId }) => definitionId);
  return [...new Set([...timers, ...starts])].sort();
}

/** In this order: read-only stops come first. */
const STOPS: Readonly<Record<string, Stop>> = {
  "list of instances": async ({ engine }) => instances((await engine.list({}, PAGE)).items),
  "list by definition": async ({ engine }) =>
    instances((await engine.list({ definition: "order" }, PAGE)).items),
  "list by business key": async ({ engine }) =>
    instances((await engine.list({ businessKey: "A-1" }, PAGE)).items),
  "list by tag": async ({ engine }) =>
    instances((await engine.list({ tag: "express" }, PAGE)).items),
  "list of incidents": async ({ engine }) => instances((await engine.incidents({}, PAGE)).items),
  "list of definitions": async ({ engine }) =>
    (await engine.definitions(PAGE)).items.map(({ id }) => id),
  "list of versions": async ({ engine }) =>
    (await engine.versions("chain", PAGE)).items.map(({ id }) => id),
  "list of schedules": async ({ engine }) =>
    (await engine.schedules(PAGE)).items.map(({ id }) => id),
  "list of dead letters": async ({ engine }) =>
    (await engine.deadLetters({}, PAGE)).items.map(({ id }) => id),
  "list of tasks": async ({ engine }) => tasks((await engine.tasks({}, PAGE)).items),
  "list of tasks of a type": async ({ engine }) =>
    tasks((await engine.tasks({ type: "work" }, PAGE)).items),
  "list of a user's tasks": async ({ engine }) =>
    tasks((await engine.tasks({ assignee: "anna" }, PAGE)).items),
  "list of a candidate's tasks": async ({ engine }) =>
    tasks((await engine.tasks({ candidateUser: "bert" }, PAGE)).items),
  "list of a group's tasks": async ({ engine }) =>
    tasks((await engine.tasks({ candidateGroup: "sales" }, PAGE)).items),
  "list of user tasks": async ({ engine }) =>
    tasks((await engine.tasks({ state: "claimed" }, PAGE)).items),
  definition: async ({ engine }) => [(await engine.definition("by-timer")).id],
  history: async ({ engine }) => [String((await engine.history("ended", PAGE)).items.length)],
  receipt: async ({ engine }) => [String((await engine.receipt("nudge-1")).delivered)],
  "task type": async ({ engine }) => [String((await engine.taskType("work")).shards)],
  "event type": async ({ engine }) => [(await engine.eventType("news")).deliveryMode],

  "poll for work": poll("work"),
  "poll for carry": poll("carry"),
  "poll for pack": poll("pack"),

  "start of another definition": async (world) => {
    await world.engine.start("carrying", { instanceId: "fresh" });
    await settle(world);
    return instances((await world.engine.list({ definition: "carrying" }, PAGE)).items);
  },
  "start of one that listens": async (world) => {
    await world.engine.start("approval", { instanceId: "fresh-approval" });
    await settle(world);
    return [(await world.engine.get("fresh-approval")).status];
  },
  "signal to a wait": async (world) => {
    const { deliveredCount } = await world.engine.signal({ name: "approved", payload: {} });
    await settle(world);
    return [`${deliveredCount} delivered`];
  },
  "signal to a wait that stays": async (world) => {
    const { deliveredCount } = await world.engine.signal({ name: "nudge" });
    await settle(world);
    return [`${deliveredCount} delivered`];
  },
  "signal that starts": async (world) => {
    const { startedCount } = await world.engine.signal({ name: "opened", payload: { n: 2 } });
    await settle(world);
    return [`${startedCount} started`];
  },
  "split of a broadcast": async ({ engine }) => {
    const about = { tenant: "default", broadcastId: "nudge-1", page: 0, epoch: 1, shard: 0 };
    const until = instantFrom(2_000_000_000_000);
    const message = { kind: "shard", ...about } as const;
    return [String(await engine.handle(message, { id: "split", until, mayContinue: true }))];
  },
  "message to a wait": async (world) => {
    const name = { name: "payment", correlationKey: "order-1" };
    const { outcome } = await world.engine.message({ ...name, payload: { paid: 3 } });
    await settle(world);
    return [String(outcome)];
  },
  "message that starts": async (world) => {
    const { outcome } = await world.engine.message({ name: "ordered", correlationKey: "y" });
    await settle(world);
    return [String(outcome)];
  },
  "event to an instance": async (world) => {
    const target = { name: "note", target: WAITING.event, payload: "more" };
    const { outcome } = await world.engine.event(target);
    await settle(world);
    return [String(outcome)];
  },
  "event to all": async (world) => {
    await world.engine.event({ name: "never", payload: "now" });
    await settle(world);
    return [(await world.engine.get(WAITING.event)).status];
  },
  "event of an id that was used": async ({ engine }) => {
    const { outcome } = await engine.event({ name: "news", id: "news-1", payload: { n: 1 } });
    return [String(outcome)];
  },
  "a wait for kept events": async (world) => {
    await world.engine.event({ name: "news", payload: { n: 2 }, id: "news-2" });
    await world.engine.deploy({ notation: "code", source: NEWS_READER });
    await world.engine.start(NEWS_READER, { instanceId: "fresh-reader" });
    await settle(world);
    return [JSON.stringify((await world.engine.result("fresh-reader")).result)];
  },
  "completion of a task": async (world) => {
    await world.engine.completeTask(`${WAITING.task}.k1.2`, { variables: {} });
    await settle(world);
    return status(WAITING.task)(world);
  },
  "completion of a child": async (world) => {
    const { items } = await world.engine.tasks({ type: "pay-child" }, PAGE);
    await world.engine.completeTask(items[0]?.taskId ?? "", { variables: {} });
    await settle(world);
    return status(NEWER.call)(world);
  },
  sweep: (world) =>
    armedBy(world, async () => {
      world.moveTo(world.now() + 2 * HOUR);
      await world.engine.sweep(SLICE);
    }),
  wheel: (world) => armedBy(world, () => world.engine.turnWheel(SLICE)),
  adoption: async (world) => {
    await world.engine.adopt();
    await settle(world);
    return ["done"];
  },
  "recovery after a restart": async (world) => {
    const { failed } = await world.engine.recover();
    await settle(world);
    return [`${failed} failed`];
  },
  "recovery of everything": async (world) => {
    const { failed } = await world.engine.recoverAll({ limit: 200 });
    const sent = world.queued.flatMap((it) => (it.kind === "task" ? [it.instanceId] : []));
    world.queued.length = 0;
    return [`${failed} failed`, ...sent];
  },
  purge: async ({ engine }) => {
    const { items } = await engine.purge({ filter: {}, dryRun: false, limit: 200 });
    return items.map(({ instanceId, outcome }) => `${instanceId} ${outcome}`).sort();
  },
};

/** Handles what is queued; a message that fails reports its code, as its queue would. */
async function settle(world: PlainWorld): Promise<void> {
  const { engine, queued } = world;
  for (let message = queued.shift(); message; message = queued.shift()) {
    const until = instantFrom(world.now() + 900_000);
    try {
      await engine.handle(message, { id: "tourist", until, mayContinue: true });
    } catch (cause) {
      if (!(cause instanceof EngineError)) throw cause;
    }
  }
}

/** Makes every stop, whatever the previous one returned. */
export async function tour(world: PlainWorld): Promise<Tour> {
  const said: Record<string, readonly string[] | string> = {};
  for (const [name, stop] of Object.entries(STOPS)) {
    try {
      said[name] = await stop(world);
    } catch (cause) {
      if (!(cause instanceof EngineError)) throw cause;
      said[name] = cause.code;
    }
  }
  return said;
}
