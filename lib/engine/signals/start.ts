/**
 * A broadcast reaches a start event: one instance of the definition per broadcast, and no second.
 * What the start owes leaves before it, with the start inside: a new version of the definition may
 * remove the row at any moment, and then no part of the broadcast comes here again.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { CarriedStart, PagedRow } from "../../ports/message.ts";
import { createInstance } from "../drive/creation.ts";
import { type Broadcast, parsePayload } from "../rows/broadcast.ts";
import { CONTENDED_MS } from "../step/commit-with-retry.ts";
import { listeningStart } from "../storage/latest.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import type { Outcome } from "./receipt.ts";

type StartRow = Extract<PagedRow, { definitionId: string }>;

export async function startByBroadcast(
  world: World,
  broadcast: Broadcast,
  row: StartRow,
): Promise<Outcome> {
  const instanceId = idOfStarted(world, broadcast, row);
  const outcome = await tryRepeatedly(world, { tries: MAX_TRIES_OF_DOOR }, async () =>
    (await loadInstance(world, instanceId)) ? STARTED : create(world, broadcast, row, instanceId),
  );
  return outcome instanceof Again ? { kind: "later", ms: CONTENDED_MS } : outcome;
}

/** The same for every part of the broadcast: it begins one instance. */
export const idOfStarted = (
  world: World,
  broadcast: Broadcast,
  { definitionId }: StartRow,
): string => world.ids.digest(`signal\n${definitionId}\n${broadcast.id}`);

const STARTED: Outcome = { kind: "started" };

/** The instance is created only while the definition is enabled, in the version that says so. */
async function create(
  world: World,
  broadcast: Broadcast,
  row: StartRow,
  instanceId: string,
): Promise<Outcome | Again> {
  const { definitionId, element } = row;
  const event = { kind: "signal", name: broadcast.topic.name, element } as const;
  const listening = await listeningStart(world, definitionId, event);
  if (listening === undefined) return { kind: "skipped" };
  // Everything that the first decision needs comes from the broadcast: all creators decide alike.
  const trigger = { element, payload: parsePayload(broadcast.payload) };
  const start: CarriedStart = {
    ...listening.startable,
    now: broadcast.at,
    request: world.ids.digest(`signal\n${broadcast.id}`),
    fact: { kind: "started", input: { variables: {}, trigger } },
    head: listening.head,
  };
  const created = await createInstance(world, instanceId, start);
  if (created.kind === "void") return { kind: "skipped" };
  return created.kind === "committed" ? STARTED : again();
}
