/** Reading definitions, and the switches on them. */
import type { Notation } from "../../definition/definition.ts";
import { MAX_LIVE_COUNTED } from "../../definition/limits.ts";
import { formatInstant, instantFrom } from "../../definition/time/instant.ts";
import type { DefinitionView } from "../../shapes/definitions.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import { phaseViews } from "../instances/listing-sources.ts";
import { viewProcess } from "../instances/views.ts";
import { replaceStarts } from "../rows/start-rows.ts";
import { defined } from "../storage/defined.ts";
import { listItems, listPages, rangeOf, viewPage } from "../storage/items.ts";
import { definitionPk, definitionsView, VERSIONS, versionOf } from "../storage/keys.ts";
import {
  changeLatest,
  deployed,
  type Latest,
  parseLatest,
  readLatest,
  readVersion,
  shardsOf,
} from "../storage/latest.ts";
import { loadProgram, readParts } from "../storage/programs.ts";
import { parseVersion, type VersionRecord } from "../storage/version-record.ts";
import { rearmTimers, replaceTimers, withTimers } from "../timer-starts/replace.ts";
import { nextDues } from "../timer-starts/schedules.ts";
import type { World } from "../world.ts";

/** Deployed definitions, by id. */
export async function listDefinitions(
  world: World,
  request: PageRequest,
): Promise<Listed<DefinitionView>> {
  const view = definitionsView(world.settings.tenant);
  return viewPage(world, await listItems(world, view, rangeOf(request)), ({ body }) => {
    const latest = parseLatest(body);
    return latest.state === "undeployed" ? undefined : viewLatest(world, latest);
  });
}

export async function getDefinition(
  world: World,
  id: string,
  version?: number,
): Promise<DefinitionView> {
  if (version === undefined) return viewLatest(world, (await deployed(world, id)).latest);
  const record = await readVersion(world, id, version);
  const latest = (await readLatest(world, id))?.latest;
  return viewVersion(world, { id, version, record, latest });
}

/** Every version that is stored, the newest first. */
export async function listVersions(
  world: World,
  id: string,
  request: PageRequest,
): Promise<Listed<DefinitionView>> {
  const { latest } = await deployed(world, id);
  const range = { ...VERSIONS, backwards: true, ...rangeOf(request) } as const;
  const page = await world.store.scan(definitionPk(world.settings.tenant, id), range);
  const live = await countLive(world, id, latest);
  return viewPage(world, page, ({ key, body }) => {
    const record = parseVersion(body);
    return viewVersion(world, { id, version: versionOf(key), record, latest, live });
  });
}

export async function readSource(
  world: World,
  id: string,
  version: number,
): Promise<Readonly<{ notation: Notation; text: string }>> {
  const { hash, sourceHash } = await readVersion(world, id, version);
  const pk = definitionPk(world.settings.tenant, id);
  const { definition } = await loadProgram(world, { id, version, hash });
  const text = await readParts(world.store, { pk, what: "X", hash: sourceHash });
  return { notation: definition.notation, text: text ?? "" };
}

/**
 * Sets whether starts are taken. Enabling and disabling may be repeated; a second undeploy finds
 * nothing that is deployed, and says so.
 */
export function switchState(world: World, id: string, state: Latest["state"]): Promise<Latest> {
  return changeLatest(world, id, async ({ item, latest }) => {
    if (latest.state === state) return undefined;
    const version = item.version + 1;
    // An undeployed definition listens to nothing; a disabled one still does, and begins nothing.
    const isGone = state === "undeployed";
    const none = { definitionId: id, before: latest, events: [], v: version };
    const rows = isGone ? await replaceStarts(world, none) : undefined;
    const bare = { ...latest, state, ...(rows && { starts: rows.starts }) };
    // Enabling arms every timer anew; without timers no program is read.
    const program = latest.timers && (await loadProgram(world, latest));
    const events = program?.definition.startEvents ?? [];
    const timers = await replaceTimers(world, { before: latest, next: bare, events, run: version });
    return {
      latest: withTimers(bare, timers),
      writes: [...(rows?.writes ?? []), ...timers.writes],
      afterwards: () => rearmTimers(world, timers),
    };
  });
}

export async function viewLatest(world: World, latest: Latest): Promise<DefinitionView> {
  const { id, version } = latest;
  return viewVersion(world, { id, version, record: await readVersion(world, id, version), latest });
}

type Viewed = Readonly<{
  id: string;
  version: number;
  record: VersionRecord;
  latest: Latest | undefined;
  /** Counted already, where several versions are shown. */
  live?: DefinitionView["live"];
}>;

async function viewVersion(
  world: World,
  { id, version, record, latest, live }: Viewed,
): Promise<DefinitionView> {
  const counted = live ?? (await countLive(world, id, latest));
  const { definition } = await loadProgram(world, { id, version, hash: record.hash });
  const process = viewProcess(definition);
  const dues = latest?.version === version ? await nextDues(world, latest) : undefined;
  return {
    ...process,
    startEvents: process.startEvents.map((event) => ({
      ...event,
      ...defined({ nextDue: dues?.get(event.element) }),
    })),
    enabled: latest?.state === "enabled",
    deployedAt: formatInstant(instantFrom(record.deployedAt)),
    live: counted,
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
    for await (const keys of listPages(world.store, view, { limit: MAX_LIVE_COUNTED })) {
      count += keys.length;
      if (count > MAX_LIVE_COUNTED) return { count: MAX_LIVE_COUNTED, more: true };
    }
  }
  return { count, more: false };
}
