/**
 * Rows by which signals and messages find the definitions that they start. They change in the commit
 * that changes the definition: a new version replaces the rows of the one before, undeploying removes
 * them. Whether a definition is enabled is checked when an instance is about to start.
 */
import type { StartEvent } from "../../definition/definition.ts";
import type { Item, Key, Write } from "../../ports/store.ts";
import { encodeBody } from "../storage/formats.ts";
import { messageStartKey } from "../storage/keys.ts";
import type { Latest, ListeningStart } from "../storage/latest.ts";
import type { World } from "../world.ts";
import { readHead } from "./topic-head.ts";
import { startRow, startRowKey } from "./wait-row.ts";

export type StartRows = Readonly<{ starts: readonly ListeningStart[]; writes: readonly Write[] }>;

type Replacement = Readonly<{
  definitionId: string;
  before: Pick<Latest, "starts"> | undefined;
  events: readonly StartEvent[];
  /** The next version of the definition's head. */
  v: number;
}>;

/** What the rows become when these start events replace those of the head. */
export async function replaceStarts(
  world: World,
  { definitionId, before, events, v }: Replacement,
): Promise<StartRows> {
  const old = before?.starts ?? [];
  const starts = events.flatMap((event): readonly ListeningStart[] =>
    event.kind === "signal" || event.kind === "message"
      ? [old.find((it) => isSameRow(it, event) && it.element === event.element) ?? { ...event, v }]
      : [],
  );
  const writes: Write[] = [];
  for (const start of starts.filter((it) => it.v === v)) {
    const replaced = old.find((it) => isSameRow(it, start));
    const put = await rowOf(world, definitionId, start);
    writes.push({ put, when: replaced ? { version: replaced.v } : "absent" });
  }
  for (const gone of old.filter((it) => !starts.some((start) => isSameRow(it, start)))) {
    writes.push({ remove: rowKey(world, definitionId, gone), when: { version: gone.v } });
  }
  return { starts, writes };
}

const isSameRow = (a: ListeningStart, b: Omit<ListeningStart, "v">): boolean =>
  a.kind === b.kind && a.name === b.name;

/** What was broadcast before the definition was there begins nothing. */
async function rowOf(world: World, definitionId: string, start: ListeningStart): Promise<Item> {
  const { kind, name, element, v: version } = start;
  if (kind === "message") {
    const body = encodeBody("message-start", { definitionId });
    return { key: rowKey(world, definitionId, start), version, body };
  }
  const topic = { kind, name } as const;
  const { head } = await readHead(world, topic);
  const about = { definitionId, element, after: head.seq, at: world.clock.now() };
  return { ...startRow(world.settings.tenant, topic, about), version };
}

function rowKey(world: World, definitionId: string, { kind, name }: ListeningStart): Key {
  const { tenant } = world.settings;
  return kind === "message"
    ? messageStartKey(tenant, name, definitionId)
    : startRowKey(tenant, { kind, name }, definitionId);
}
