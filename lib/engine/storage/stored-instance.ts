/** Instances in and out of the store. Decoding is remembered per body: it costs nothing again. */
import { isInstanceId } from "../../definition/instance-id.ts";
import type { Instant } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import type { Item } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { decodeInstance, parseStored } from "./codec.ts";
import { isOver } from "./items.ts";
import { instanceIdOf, instanceKey } from "./keys.ts";
import { loadProgram } from "./programs.ts";
import { sound } from "./unreadable.ts";
import { withExternalized } from "./values.ts";

/** An instance as it was read, with what is needed to decide on it. */
export type Image = Readonly<{ instance: Instance; program: Program }>;

/** Reads strongly; undefined when there is none, or only one that has had its time. */
export async function loadInstance(world: World, instanceId: string): Promise<Image | undefined> {
  const item = await readInstance(world, instanceId);
  return item && imageOf(world, item);
}

/** As it is stored, with its place in the due index. */
export async function readInstance(world: World, instanceId: string): Promise<Item | undefined> {
  // No instance can be called so; asking the store would be a mistake of ours.
  if (!isInstanceId(instanceId)) return undefined;
  const [item] = await world.store.get([instanceKey(world.settings.tenant, instanceId)]);
  return item && !isOver(world, item) ? item : undefined;
}

/** The image in an item, such as a refused commit brings back. */
export async function imageOf(world: World, item: Item): Promise<Image> {
  const known = images.get(item.body);
  if (known) return known;
  const id = instanceIdOf(item.key) ?? item.key.pk;
  const where = `instance ${id}`;
  const packed = sound(where, () => parseStored(item.body));
  const stored = await withExternalized(world, id, packed);
  const program = await loadProgram(world, stored.definition);
  const about = { id, tenant: world.settings.tenant, version: item.version };
  const instance = sound(where, () => decodeInstance(stored, program.definition, about));
  const image = { instance, program };
  rememberImage(item.body, image);
  return image;
}

/** Remembers what bytes stand for, when they were made here. */
export const rememberImage = (body: Uint8Array, image: Image) => images.set(body, image);

const images = new WeakMap<Uint8Array, Image>();

/** Who an instance is, before anything happens to it. */
export type Identity = Pick<
  Instance,
  "id" | "tenant" | "definition" | "startHash" | "businessKey" | "tags" | "parent"
>;

/** An instance to which nothing has happened yet: what its first decision begins with. */
export function blankInstance(identity: Identity, now: Instant): Instance {
  return {
    ...identity,
    version: 0,
    status: "live",
    startedAt: now,
    lastNow: now,
    state: null,
    tickets: [],
    outbox: [],
    minted: 0,
    completed: [],
    trail: { next: 1, entries: [] },
    ring: [],
    inbox: [],
    sentEvents: [],
    seenEvents: {},
  };
}
