/** Events that their target can never read any more: kept, looked at, sent again or removed. */
import type { Json } from "../../definition/json.ts";
import { DEAD_LETTER_MS, MAX_PAGE_BYTES, MAX_PAYLOAD_BYTES } from "../../definition/limits.ts";
import { formatInstant, type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Ended } from "../../kernel/ending.ts";
import type { QueuedEvent } from "../../kernel/queued-event.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import type { DeadLetterView } from "../../shapes/signals.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { listItems, putAbsent, rangeOf, viewPage } from "../storage/items.ts";
import { deadLetterKey, deadLetterOrder, deadLettersView, isStorable } from "../storage/keys.ts";
import { engineBusy } from "../storage/retrying.ts";
import { readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

export type DeadLetter = Readonly<{
  id: string;
  name: string;
  payload: Json;
  /** When the event was sent. */
  at: Instant;
  target: string;
  targetStatus: Ended;
  replays: number;
}>;

/** Keeps what an ended instance left unread. Doing it twice keeps it once. */
export async function bury(
  world: World,
  target: string,
  { event, targetStatus }: Readonly<{ event: QueuedEvent; targetStatus: Ended }>,
): Promise<void> {
  const { id, name, payload, at } = event;
  const letter = { id, name, payload, at, target, targetStatus, replays: 0 };
  const stored = await putAbsent(world, letterItem(world, letter, 1));
  const [found] = readableOf(world, [stored], ({ body }) => parseLetter(body));
  if (found?.target === target) return;
  // The same id was sent to several instances: each of them may leave a letter.
  await putAbsent(world, letterItem(world, { ...letter, id: `${id}~${target}` }, 1));
}

/** Each may hold the largest payload, and a page must be an answer that the gateway lets through. */
const MAX_LETTERS_PER_PAGE = Math.floor(MAX_PAGE_BYTES / MAX_PAYLOAD_BYTES);

export async function listDeadLetters(
  world: World,
  { name }: Readonly<{ name?: string }>,
  page: PageRequest,
): Promise<Listed<DeadLetterView>> {
  const limit = Math.min(page.limit, MAX_LETTERS_PER_PAGE);
  const range = { ...rangeOf({ ...page, limit }), backwards: true } as const;
  const found = await listItems(world, deadLettersView(world.settings.tenant), range);
  const now = world.clock.now();
  return viewPage(world, found, ({ body, expiresAt = now }) => {
    const letter = expiresAt > now ? parseLetter(body) : undefined;
    return letter && (name === undefined || letter.name === name) ? view(letter) : undefined;
  });
}

/** The letter of this id, and its item; throws where there is none. */
async function readLetter(
  world: World,
  id: string,
): Promise<Readonly<{ item: Item; letter: DeadLetter }>> {
  if (!isStorable(id)) throw noLetter(id);
  const [item] = await world.store.get([deadLetterKey(world.settings.tenant, id)]);
  if (item === undefined || (item.expiresAt ?? 0) <= world.clock.now()) throw noLetter(id);
  return { item, letter: parseLetter(item.body) };
}

export async function removeDeadLetter(world: World, id: string): Promise<{ removed: true }> {
  const { item } = await readLetter(world, id);
  await removeLetter(world, item);
  return { removed: true };
}

/** A letter that another request has removed is gone as well. */
export async function removeLetter(world: World, { key }: Item): Promise<void> {
  await world.store.commit([{ remove: key, when: "exists" }]);
}

/** Counts a replay before it is made: the copy gets an id that no other replay has. */
export async function countReplay(world: World, id: string): Promise<DeadLetter & { item: Item }> {
  const { item, letter } = await readLetter(world, id);
  const counted = { ...letter, replays: letter.replays + 1 };
  const put = letterItem(world, counted, item.version + 1);
  const outcome = await world.store.commit([{ put, when: { version: item.version } }]);
  if (outcome.kind === "committed") return { ...counted, item: put };
  throw engineBusy(`dead letter ${id}`);
}

function letterItem(world: World, letter: DeadLetter, version: number): Item {
  const { tenant } = world.settings;
  const { id, at } = letter;
  return {
    key: deadLetterKey(tenant, id),
    version,
    body: encodeBody("dead-letter", letter),
    listed: { view: deadLettersView(tenant), order: deadLetterOrder(at, id) },
    expiresAt: instantFrom(world.clock.now() + DEAD_LETTER_MS),
  };
}

const parseLetter = parserOf<DeadLetter>("dead-letter");

const view = ({ at, replays: _, ...letter }: DeadLetter): DeadLetterView => ({
  ...letter,
  at: formatInstant(at),
  reason: `The instance had ${WORDS[letter.targetStatus]} before it read the event.`,
});

const WORDS = { succeeded: "succeeded", failed: "failed", cancelled: "been cancelled" } as const;

const noLetter = (id: string): EngineError =>
  new EngineError("dead-letter/not-found", { where: `dead letter ${id}` });
