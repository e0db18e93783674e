/** Reading definitions, and the switches on them. */
import type { Notation } from "../../definition/definition.ts";
import { MAX_LIVE_COUNTED, MAX_TRIES_AT_DEFINITION } from "../../definition/limits.ts";
import { formatInstant, instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Range, Write } from "../../ports/store.ts";
import { phaseViews } from "../instances/listing-sources.ts";
import { viewProcess } from "../instances/views.ts";
import { replaceStarts } from "../rows/start-rows.ts";
import type { DefinitionView } from "../shapes/definitions.ts";
import type { Listed, PageRequest } from "../shapes/paging.ts";
import { definitionPk, definitionsView, VERSIONS, versionOf } from "../storage/keys.ts";
import {
  deployed,
  type Latest,
  latestItem,
  parseLatest,
  parseVersion,
  readLatest,
  readVersion,
  shardsOf,
  type VersionRecord,
} from "../storage/latest.ts";
import { readParts } from "../storage/parts.ts";
import { loadProgram } from "../storage/programs.ts";
import { readMany } from "../storage/read-many.ts";
import { readable } from "../storage/unreadable.ts";
import {
  NO_CHANGE,
  rearmTimers,
  replaceTimers,
  type TimerChange,
  withTimers,
} from "../timer-starts/replace.ts";
import { nextDues } from "../timer-starts/schedules.ts";
import type { World } from "../world.ts";

/** Deployed definitions, by id. */
export async function listDefinitions(
  world: World,
  request: PageRequest,
): Promise<Listed<DefinitionView>> {
  const view = definitionsView(world.settings.tenant);
  const page = await world.store.list(view, rangeOf(request));
  const heads = await readMany(world.store, page.items);
  const items: DefinitionView[] = [];
  for (const head of heads) {
    const view = head && (await readable(world, head.key, () => viewHead(world, head)));
    if (view !== undefined && view !== "unreadable") items.push(view);
  }
  return { items, ...(page.next !== undefined && { nextCursor: page.next }) };
}

async function viewHead(world: World, { body }: Item): Promise<DefinitionView | undefined> {
  const latest = parseLatest(body);
  return latest.state === "undeployed" ? undefined : viewLatest(world, latest);
}

export async function getDefinition(
  world: World,
  id: string,
  version?: number,
): Promise<DefinitionView> {
  if (version === undefined) return viewLatest(world, (await deployed(world, id)).latest);
  const record = await readVersion(world, id, version);
  const latest = (await readLatest(world, id))?.latest;
  const live = await countLive(world, id, latest);
  return viewVersion(world, { id, version, record, latest, live });
}

/** Every version that is stored, the newest first. */
export async function listVersions(
  world: World,
  id: string,
  request: PageRequest,
): Promise<Listed<DefinitionView>> {
  const { latest } = await deployed(world, id);
  const page = await world.store.scan(definitionPk(world.settings.tenant, id), {
    ...VERSIONS,
    backwards: true,
    ...rangeOf(request),
  });
  const live = await countLive(world, id, latest);
  const items: DefinitionView[] = [];
  for (const { key, body } of page.items) {
    const view = await readable(world, key, async () => {
      const record = parseVersion(body);
      return viewVersion(world, { id, version: versionOf(key), record, latest, live });
    });
    if (view !== "unreadable") items.push(view);
  }
  return { items, ...(page.next !== undefined && { nextCursor: page.next }) };
}

const rangeOf = ({ limit, cursor }: PageRequest): Pick<Range, "limit" | "after"> => ({
  limit,
  ...(cursor !== undefined && { after: cursor }),
});

export async function readSource(
  world: World,
  id: string,
  version: number,
): Promise<Readonly<{ notation: Notation; text: string }>> {
  const { hash, sourceHash } = await readVersion(world, id, version);
  const pk = definitionPk(world.settings.tenant, id);
  const { definition } = await loadProgram(world, { id, version, hash });
  const text = await readParts(world.store, pk, "X", sourceHash);
  return { notation: definition.notation, text: text ?? "" };
}

/**
 * Sets whether starts are taken. Enabling and disabling may be repeated; what is undeployed is not
 * found any more, and that is what a second undeploy is told.
 */
export async function switchState(
  world: World,
  id: string,
  state: Latest["state"],
): Promise<Latest> {
  for (let tries = 0; tries < MAX_TRIES_AT_DEFINITION; tries++) {
    const { item, latest } = await deployed(world, id);
    if (latest.state === state) return latest;
    // What is undeployed listens to nothing; what is disabled still does, and begins nothing.
    const isGone = state === "undeployed";
    const none = { definitionId: id, before: latest, events: [], v: item.version + 1 };
    const rows = isGone ? await replaceStarts(world, none) : undefined;
    const bare = { ...latest, state, ...(rows && { starts: rows.starts }) };
    const timers = await switchTimers(world, latest, bare, item.version + 1);
    const changed = withTimers(bare, timers);
    const put: Write = {
      put: latestItem(world, changed, item.version + 1),
      when: { version: item.version },
    };
    const writes = [put, ...(rows?.writes ?? []), ...timers.writes] as const;
    if ((await world.store.commit(writes)).kind === "committed") {
      await rearmTimers(world, timers);
      return changed;
    }
    await world.clock.pause(5);
  }
  throw new EngineError("engine/busy", {
    happened: "Others kept changing the definition",
    where: `definition ${id}`,
    fix: "Send the request again.",
    retryable: true,
  });
}

/** Enabling arms every timer anew; without timers nothing need be read. */
async function switchTimers(
  world: World,
  before: Latest,
  after: Latest,
  run: number,
): Promise<TimerChange> {
  if (before.timers === undefined) return NO_CHANGE;
  const { definition } = await loadProgram(world, before);
  return replaceTimers(world, before, after, definition.startEvents, run);
}

export async function viewLatest(world: World, latest: Latest): Promise<DefinitionView> {
  const { id, version } = latest;
  const record = await readVersion(world, id, version);
  const live = await countLive(world, id, latest);
  return viewVersion(world, { id, version, record, latest, live });
}

type Viewed = Readonly<{
  id: string;
  version: number;
  record: VersionRecord;
  latest: Latest | undefined;
  live: DefinitionView["live"];
}>;

async function viewVersion(
  world: World,
  { id, version, record, latest, live }: Viewed,
): Promise<DefinitionView> {
  const { definition } = await loadProgram(world, { id, version, hash: record.hash });
  const process = viewProcess(definition);
  const dues =
    latest?.version === version ? await nextDues(world, latest) : new Map<string, string>();
  return {
    ...process,
    startEvents: process.startEvents.map((event) => {
      const nextDue = dues.get(event.element);
      return nextDue === undefined ? event : { ...event, nextDue };
    }),
    enabled: latest?.state === "enabled",
    deployedAt: formatInstant(instantFrom(record.deployedAt)),
    live,
  };
}

/** Counted up to a number; of a definition that has gone, where its first instances were. */
async function countLive(
  world: World,
  id: string,
  latest: Latest | undefined,
): Promise<DefinitionView["live"]> {
  const spread = { id, shards: shardsOf(latest ?? {}) };
  const views = (["live", "incident"] as const).flatMap((it) => phaseViews(world, it, spread));
  let count = 0;
  for (const view of views) {
    if (count > MAX_LIVE_COUNTED) break;
    let after: string | undefined;
    do {
      const range = { limit: MAX_LIVE_COUNTED, ...(after !== undefined && { after }) };
      const page = await world.store.list(view, range);
      count += page.items.length;
      after = page.next;
    } while (after !== undefined && count <= MAX_LIVE_COUNTED);
  }
  return { count: Math.min(count, MAX_LIVE_COUNTED), more: count > MAX_LIVE_COUNTED };
}
