/**
 * The head of a topic counts its broadcasts. A wait that read `seq` before it was committed gets
 * every later broadcast and no earlier one: this decides about waits that open during a broadcast.
 *
 * Rows are spread over shards. Epoch 1 has one, each later one twice as many; new rows go to the
 * newest epoch, and a reader of rows goes through all epochs: none is ever removed.
 */
import { MAX_SHARDS, MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Topic } from "../../ports/bus.ts";
import type { Item } from "../../ports/store.ts";
import type { EventConfig } from "../../shapes/signals.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { inTurn, perWorld, rememberIn } from "../storage/in-process.ts";
import { headKey } from "../storage/keys.ts";
import { again, retrying } from "../storage/retrying.ts";
import type { World } from "../world.ts";

export type Head = Readonly<{
  seq: number;
  epochs: number;
  /** Of an event: what its type was declared to be, and how many are kept, roughly. */
  config?: EventConfig;
  kept?: number;
}>;

/** The name of a topic inside this process. */
export const topicName = ({ kind, name }: Topic): string => `${kind}\0${name}`;

export type ReadHead = Readonly<{ version: number; head: Head }>;

/** The head of a topic; one that was never used is made, so that it has a version. */
export function readHead(world: World, topic: Topic): Promise<ReadHead> {
  return retrying(world, triesAt(topic), async () => {
    const [item] = await world.store.get([headKey(world.settings.tenant, topic)]);
    if (item) return know(world, topic, { version: item.version, head: parseHead(item.body) });
    const put = headItem(world, topic, 1, NEW);
    const outcome = await world.store.commit([{ put, when: "absent" }]);
    return outcome.kind === "committed" ? know(world, topic, FIRST) : again(outcome);
  });
}

/** The head as it is; none is made. */
export async function peekHead(world: World, topic: Topic): Promise<Head> {
  const [item] = await world.store.get([headKey(world.settings.tenant, topic)]);
  return item ? parseHead(item.body) : NEW;
}

/** Changes the head under its version; gives what it has become. */
export const changeHead = (
  world: World,
  topic: Topic,
  change: (head: Head) => Head,
): Promise<ReadHead> =>
  inTurn(world, topicName(topic), () =>
    retrying(world, triesAt(topic), async () => {
      const { version, head } = await readHead(world, topic);
      const changed = change(head);
      if (changed === head) return { version, head };
      const put = headItem(world, topic, version + 1, changed);
      const outcome = await world.store.commit([{ put, when: { version } }]);
      // Unknown: if it was written, this broadcast leaves a number that no broadcast has. No harm.
      if (outcome.kind !== "committed") return again(outcome);
      return know(world, topic, { version: version + 1, head: changed });
    }),
  );

/**
 * Heads as this process has last seen them, where it alone owns the store: a commit that expects
 * one of them fails if it has moved, and then all are read anew.
 */
export const knownHeads = (world: World): ReadonlyMap<string, ReadHead> => heads(world);

export const forgetHeads = (world: World): void => heads(world).clear();

/** Remembers what a head has become. */
export function know(world: World, topic: Topic, head: ReadHead): ReadHead {
  if (world.settings.host.ownsStore) rememberIn(heads(world), topicName(topic), head);
  return head;
}

const heads = perWorld(() => new Map<string, ReadHead>());

/** From now on new rows are spread over twice as many shards, unless they are the most already. */
export async function addEpoch(world: World, topic: Topic, seen: number): Promise<void> {
  await changeHead(world, topic, (head) =>
    head.epochs > seen || shardsOf(head.epochs) >= MAX_SHARDS
      ? head
      : { ...head, epochs: head.epochs + 1 },
  );
}

/** How many shards an epoch has; epochs count from 1 here, as `Head.epochs` does. */
export const shardsOf = (epoch: number): number => 2 ** (epoch - 1);

/** Every shard that may hold rows, as [epoch, shard]. */
export const allShards = ({ epochs }: Head): readonly Shard[] => firstShards(2 ** epochs - 1);

export type Shard = readonly [epoch: number, shard: number];

/** The shards of a split into so many: epochs are whole, the oldest first. */
export function firstShards(count: number): readonly Shard[] {
  return Array.from({ length: count }, (_, n) => {
    const before = Math.floor(Math.log2(n + 1));
    return [before + 1, n + 1 - 2 ** before] as const;
  });
}

const NEW: Head = { seq: 0, epochs: 1 };
const FIRST: ReadHead = { version: 1, head: NEW };

/** The item of a head under this version. */
export function headItem(world: World, topic: Topic, version: number, head: Head): Item {
  return { key: headKey(world.settings.tenant, topic), version, body: encodeBody("head", head) };
}

const parseHead = parserOf<Head>("head");

const triesAt = ({ kind, name }: Topic) => ({ tries: MAX_TRIES_OF_DOOR, where: `${kind} ${name}` });
