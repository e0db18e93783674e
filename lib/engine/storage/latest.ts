/** Which version of a definition is current, and whether it may be started. */
import type { Definition } from "../../definition/definition.ts";
import { MAX_TRIES_AT_DEFINITION } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Write } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { encodeBody, parserOf } from "./formats.ts";
import { replacing } from "./items.ts";
import { definitionOrder, definitionsView, isStorable, latestKey, versionKey } from "./keys.ts";
import { loadProgram } from "./programs.ts";
import { again, retrying } from "./retrying.ts";
import { parseVersion, type VersionRecord } from "./version-record.ts";

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

/** A head as it was read. */
export type ReadLatest = Readonly<{ item: Item; latest: Latest }>;

export async function readLatest(world: World, id: string): Promise<ReadLatest | undefined> {
  if (!isStorable(id)) return undefined;
  const [item] = await world.store.get([latestKey(world.settings.tenant, id)]);
  return item && { item, latest: parseLatest(item.body) };
}

/** The head of a definition that is deployed now. */
export async function deployed(world: World, id: string): Promise<ReadLatest> {
  const found = await readLatest(world, id);
  if (found === undefined || found.latest.state === "undeployed") throw unknown(id);
  return found;
}

/** The next head, what is written along with it, and what follows the commit. */
export type LatestChange = Readonly<{
  latest: Latest;
  writes?: readonly Write[];
  afterwards?: () => Promise<void>;
}>;

/** Changes the head of a definition; `plan` gives nothing where the head is as it should be. */
export function changeLatest(
  world: World,
  id: string,
  plan: (found: ReadLatest) => Promise<LatestChange | undefined>,
): Promise<Latest> {
  const tries = { tries: MAX_TRIES_AT_DEFINITION, where: `definition ${id}` };
  return retrying(world, tries, async () => {
    const found = await deployed(world, id);
    const change = await plan(found);
    if (change === undefined) return found.latest;
    const { latest, writes = [], afterwards } = change;
    const outcome = await world.store.commit([latestWrite(world, latest, found.item), ...writes]);
    // Lost or unknown: the next try reads what has become of it.
    if (outcome.kind !== "committed") return again(outcome);
    await afterwards?.();
    return latest;
  });
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
  const isLatest = version === undefined || version === latest.version;
  const { hash } = isLatest ? latest : await readVersion(world, id, version);
  return { definition: { id, version: version ?? latest.version, hash }, ...spreadOf(latest) };
}

/** A start event of an enabled definition, and the version of the head that says so. */
export type Listening = Readonly<{ startable: Startable; element: string; head: number }>;

/** The start event of the latest version that this signal or message starts, if it is enabled. */
export async function listeningStart(
  world: World,
  definitionId: string,
  { kind, name, element }: Omit<ListeningStart, "v" | "element"> & Readonly<{ element?: string }>,
): Promise<Listening | undefined> {
  const found = await readLatest(world, definitionId);
  if (found === undefined || found.latest.state !== "enabled") return undefined;
  const { id, version, hash } = found.latest;
  const { definition } = await loadProgram(world, { id, version, hash });
  const event = definition.startEvents.find(
    (it) => it.kind === kind && it.name === name && (element ?? it.element) === it.element,
  );
  const startable = { definition: { id, version, hash }, ...spreadOf(found.latest) };
  return event && { startable, element: event.element, head: found.item.version };
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

/** Writes a head in the place of the one that was found, or the first one. */
export function latestWrite(world: World, latest: Latest, found: Item | undefined): Write {
  const { tenant } = world.settings;
  return replacing(found, {
    key: latestKey(tenant, latest.id),
    version: 1,
    body: encodeBody("latest", latest),
    listed: { view: definitionsView(tenant), order: definitionOrder(latest.id, shardsOf(latest)) },
  });
}

/** Writes a new version down, beside its head. */
export function versionWrite(world: World, definition: Definition, sourceHash: string): Write {
  const { id, version, hash, versionTag: tag } = definition;
  const deployedAt = world.clock.now();
  const record: VersionRecord = { hash, sourceHash, deployedAt, ...(tag && { tag }) };
  const key = versionKey(world.settings.tenant, id, version);
  const body = encodeBody("definition-version", record);
  return { put: { key, version: 1, body }, when: "absent" };
}

export const parseLatest = parserOf<Latest>("latest");

const unknown = (id: string, version?: number): EngineError =>
  new EngineError("definition/not-found", {
    where: version === undefined ? `definition ${id}` : `definition ${id} version ${version}`,
  });

const disabled = (id: string): EngineError =>
  new EngineError("definition/disabled", {
    happened: "The definition is disabled",
    where: `definition ${id}`,
    fix: `Enable it with POST /v1/definitions/${encodeURIComponent(id)}/enable.`,
  });
