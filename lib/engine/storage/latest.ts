/** Which version of a definition is current, and whether it may be started. */
import type { Definition } from "../../definition/definition.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { encodeBody, parseBody } from "./formats.ts";
import { definitionOrder, definitionsView, isStorable, latestKey, versionKey } from "./keys.ts";

/** The head of a definition; it outlives an undeploy, so that versions go on counting. */
export type Latest = Readonly<{
  id: string;
  version: number;
  hash: string;
  /** Of the whole source, which may hold several processes. */
  sourceHash: string;
  state: "enabled" | "disabled" | "undeployed";
  /** Start events that have rows; absent where the head was written before there were any. */
  starts?: readonly ListeningStart[];
  /** Elements that start by timer and have an item each; absent where there are none. */
  timers?: readonly string[];
  /** Over how many shards its lists are spread; absent: one. It only grows. */
  shards?: number;
}>;

/** Over how many shards the lists of a definition are spread. */
export const shardsOf = ({ shards = 1 }: Pick<Latest, "shards">): number => shards;

/** The same for a start to carry: absent where there is nothing to spread. */
export const spreadOf = ({ shards }: Pick<Latest, "shards">): Pick<Latest, "shards"> =>
  shards === undefined ? {} : { shards };

/** A start event by signal or message, and the version of its row. */
export type ListeningStart = Readonly<{
  kind: "signal" | "message";
  name: string;
  element: string;
  v: number;
}>;

/** One version, as it was deployed. */
export type VersionRecord = Readonly<{
  hash: string;
  sourceHash: string;
  deployedAt: number;
  /** What its author calls it: a call may be bound to that. */
  tag?: string;
}>;

export async function readLatest(
  world: World,
  id: string,
): Promise<Readonly<{ item: Item; latest: Latest }> | undefined> {
  if (!isStorable(id)) return undefined;
  const [item] = await world.store.get([latestKey(world.settings.tenant, id)]);
  return item && { item, latest: parseLatest(item.body) };
}

/** The head of a definition that is deployed now. */
export async function deployed(
  world: World,
  id: string,
): Promise<Readonly<{ item: Item; latest: Latest }>> {
  const found = await readLatest(world, id);
  if (found === undefined || found.latest.state === "undeployed") throw unknown(id);
  return found;
}

/** A version that may be started, and over how many shards its lists are spread. */
export type Startable = Readonly<{
  definition: Pick<Definition, "id" | "version" | "hash">;
  shards?: number;
}>;

/** The version that a start runs: the latest, or the one that was asked for. */
export async function startable(
  world: World,
  id: string,
  version: number | undefined,
): Promise<Startable> {
  const { latest } = await deployed(world, id);
  if (latest.state === "disabled") throw disabled(id);
  if (version === undefined || version === latest.version) {
    const definition = { id, version: latest.version, hash: latest.hash };
    return { definition, ...spreadOf(latest) };
  }
  const { hash } = await readVersion(world, id, version);
  return { definition: { id, version, hash }, ...spreadOf(latest) };
}

export async function readVersion(
  world: World,
  id: string,
  version: number,
): Promise<VersionRecord> {
  if (!isStorable(id)) throw unknown(id, version);
  const [item] = await world.store.get([versionKey(world.settings.tenant, id, version)]);
  if (item === undefined) throw unknown(id, version);
  return parseVersion(item.body);
}

/** The item of a head under its next version. */
export function latestItem(world: World, latest: Latest, version: number): Item {
  const { tenant } = world.settings;
  return {
    key: latestKey(tenant, latest.id),
    version,
    body: encodeBody("latest", latest),
    listed: { view: definitionsView(tenant), order: definitionOrder(latest.id, shardsOf(latest)) },
  };
}

export function parseLatest(body: Uint8Array): Latest {
  return parseBody("latest", body) as Latest;
}

export function parseVersion(body: Uint8Array): VersionRecord {
  return parseBody("definition-version", body) as VersionRecord;
}

export function unknown(id: string, version?: number): EngineError {
  return new EngineError("definition/not-found", {
    happened: "There is no such definition",
    where: version === undefined ? `definition ${id}` : `definition ${id} version ${version}`,
    fix: "Deploy it first, or list what is deployed with GET /v1/definitions.",
    retryable: false,
  });
}

function disabled(id: string): EngineError {
  return new EngineError("definition/disabled", {
    happened: "The definition is disabled",
    where: `definition ${id}`,
    fix: `Enable it with POST /v1/definitions/${encodeURIComponent(id)}/enable.`,
    retryable: false,
  });
}
