/**
 * Publishing a message. The wait for it gets it; where none is open, it begins what begins by it;
 * else it is kept for its time. Which of these it is, the mailbox's version decides: a wait that
 * opens meanwhile changes it, and the message is published anew.
 *
 * 1. To one taker it goes in one commit with the taker's step; a parked copy has it inside.
 * 2. To several it is first kept for exactly those, then each takes it in a commit of its own: a
 *    process that dies in between leaves it in the mailbox, which the due index finds.
 * 3. A call that dies unanswered may be repeated under the same id.
 */
import { canonicalJson } from "../../definition/json.ts";
import {
  DEFAULT_TIME_TO_LIVE,
  MAX_TRIES_OF_DOOR,
  MIN_MESSAGE_MEMORY_MS,
} from "../../definition/limits.ts";
import { checkedValue } from "../../definition/parsed.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { instantFrom } from "../../definition/time/instant.ts";
import type { Ticket } from "../../kernel/instance.ts";
import {
  type Address,
  type Buffered,
  hasRoom,
  pruned,
  type Remembered,
  rememberedAs,
  type Target,
  withMessage,
  withoutSubs,
} from "../../kernel/mailbox.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { IdempotencyKey } from "../../shapes/paging.ts";
import type { MessageAnswer, MessageRequest } from "../../shapes/signals.ts";
import { answerCall, type Progress } from "../drive/commit-call.ts";
import { recheckInRequest } from "../drive/recheck.ts";
import { checkPayloadSize, demandSameBody } from "../rows/broadcast.ts";
import { mailboxWrite, type ReadMailbox, readMailbox } from "../rows/mailbox.ts";
import { mailboxKey } from "../storage/keys.ts";
import { Again, again, engineBusy, tryRepeatedly } from "../storage/retrying.ts";
import type { World } from "../world.ts";
import { beginBy, startsBy, takeIfItCan } from "./target.ts";
import { parkRecheck, type Waiter, waitersOf, wantName } from "./waiters.ts";
import { wakeMailbox } from "./wake-mailbox.ts";

export async function publishMessage(
  world: World,
  request: MessageRequest,
  key?: IdempotencyKey,
): Promise<MessageAnswer> {
  const letter = letterOf(world, request, key);
  return answerCall(`message ${letter.message.mid}`, (progress) =>
    publishLetter(world, { ...letter, progress, parked: {} }),
  );
}

async function publishLetter(world: World, letter: Letter): Promise<MessageAnswer> {
  const { mid: messageId } = letter.message;
  const answer = await tryRepeatedly(world, { tries: MAX_TRIES_OF_DOOR }, async () => {
    const read = await readMailbox(world, letter.address);
    const known = rememberedAs(read.mailbox, messageId);
    if (known === undefined) return publishOnce(world, letter, read);
    demandSameBody(known.body, letter.id.body, `message ${messageId}`);
    const { instanceId } = letter.parked;
    if (instanceId === undefined) return { outcome: "duplicate" } as const;
    // The parked copy of this call was quicker than the call.
    return { outcome: "delivered", instanceId } as const;
  });
  return answer instanceof Again ? keepAndWake(world, letter) : { messageId, ...answer };
}

type Letter = Readonly<{
  address: Address;
  message: Buffered;
  /** How its mailbox remembers it. */
  id: Remembered;
  isFleeting: boolean;
  /** Of the call that publishes it. */
  progress: Progress;
  /** The instance with a parked copy of it. */
  parked: { instanceId?: string };
}>;
type Answer = Omit<MessageAnswer, "messageId">;

/** Again: what was read has changed, or will in a moment. */
async function publishOnce(
  world: World,
  letter: Letter,
  read: ReadMailbox,
): Promise<Answer | Again> {
  const waiters = await waitersOf(world, read.mailbox);
  if (waiters === "unsure") return again();
  const [only, ...others] = waiters;
  if (only && others.length === 0) return giveTo(world, letter, read, only);
  if (only) return giveToSeveral(world, letter, read, waiters.map(targetOf));
  const starts = await startsBy(world, letter.address.name);
  const [begun, ...more] = starts;
  if (begun === undefined) return keep(world, letter, read);
  if (more.length === 0) return begin(world, letter, read, begun);
  const targets = starts.map((definitionId) => ({ definitionId }));
  return giveToSeveral(world, letter, read, targets);
}

const targetOf = ({ image, ticket }: Waiter): Target => ({
  instanceId: image.instance.id,
  ticket: ticket.id,
});

async function giveTo(
  world: World,
  letter: Letter,
  read: ReadMailbox,
  { image, ticket }: Waiter,
): Promise<Answer | Again> {
  const { address, id, progress } = letter;
  const message = lasting(world, letter);
  const name = wantName(ticket, message.mid);
  const instanceId = image.instance.id;
  const publishing = { post: { address, message, id }, read, progress };
  const looked = await recheckInRequest(world, image, { ticket: ticket.id, name, publishing });
  if (looked.kind === "again" && looked.isParked) letter.parked.instanceId = instanceId;
  if (looked.kind !== "took") return again();
  // Older ones that were still on their way go first.
  const { trail, tickets } = looked.image.instance;
  const isTaken =
    trail.entries.some(
      ({ type, data }) => type === "message-received" && namesMessage(data, message.mid),
    ) || tickets.some((ticket) => keepsMessage(ticket, message.mid));
  return isTaken ? { outcome: "delivered", instanceId } : { outcome: "buffered" };
}

/** The step could not be taken, and an incident has the message now. */
const keepsMessage = (ticket: Ticket, mid: string): boolean =>
  ticket.on === "incident" && namesMessage(ticket.kept?.fact, mid);

const namesMessage = (data: unknown, mid: string): boolean =>
  typeof data === "object" && data !== null && "messageId" in data && data.messageId === mid;

async function begin(
  world: World,
  { address, message: { payload }, id, progress }: Letter,
  { version: base }: ReadMailbox,
  definitionId: string,
): Promise<Answer | Again> {
  const mail = { ...address, id, base };
  const instanceId = await beginBy(world, definitionId, { mail, payload }, progress);
  return instanceId === undefined ? again() : { outcome: "started", instanceId };
}

/** Keeps it for exactly these first; each then takes it on its own. */
async function giveToSeveral(
  world: World,
  letter: Letter,
  read: ReadMailbox,
  targets: readonly Target[],
): Promise<Answer | Again> {
  const { address, id } = letter;
  const message = { ...lasting(world, letter), for: targets };
  if (!(await putMessage(world, read, message, id))) return again();
  letter.progress.mayHappen = true;
  const takers: string[] = [];
  for (const target of targets) {
    const taker = await takeIfItCan(world, { address, message, target });
    if (taker !== undefined) takers.push(taker);
  }
  // One of them may be gone meanwhile, and another wait may be open.
  await wakeMailbox(world, mailboxKey(world.settings.tenant, address.name, address.key));
  const [first] = takers;
  const isStart = targets.some((target) => "definitionId" in target);
  if (first === undefined) return { outcome: "buffered" };
  return { outcome: isStart ? "started" : "delivered", instanceId: first };
}

/** A message that is only for the waits of this moment must still live until those have it. */
const lasting = (world: World, { message, isFleeting }: Letter): Buffered =>
  isFleeting ? { ...message, expiresAt: instantFrom(world.clock.now() + IN_FLIGHT_MS) } : message;
const IN_FLIGHT_MS = 60_000;

async function keep(
  world: World,
  { address, message, id, isFleeting }: Letter,
  { version, mailbox }: ReadMailbox,
): Promise<Answer | Again> {
  if (isFleeting) throw new EngineError("message/no-waiter", { where: place(address) });
  // The waits that still stand there are known to be gone: the message needs no re-check.
  const left = { version, mailbox: withoutSubs(mailbox, () => true) };
  return (await putMessage(world, left, message, id)) ? { outcome: "buffered" } : again();
}

/** Its taker is too busy for a call: the message waits in the mailbox for the taker's re-check. */
async function keepAndWake(world: World, letter: Letter): Promise<MessageAnswer> {
  const { address, message, id } = letter;
  const read = await readMailbox(world, address);
  const { mid: messageId } = message;
  if (rememberedAs(read.mailbox, messageId)) return { messageId, outcome: "duplicate" };
  if (!(await putMessage(world, read, lasting(world, letter), id)))
    throw engineBusy(place(address));
  letter.progress.mayHappen = true;
  const waiters = await waitersOf(world, read.mailbox);
  for (const waiter of waiters === "unsure" ? [] : waiters) {
    await parkRecheck(world, waiter, messageId);
  }
  return { messageId, outcome: "buffered" };
}

/** Puts one more message into a mailbox that has room; false when it has changed meanwhile. */
async function putMessage(
  world: World,
  { version, mailbox: before }: ReadMailbox,
  message: Buffered,
  id: Remembered,
): Promise<boolean> {
  if (!hasRoom(before, message, world.clock.now()))
    throw new EngineError("message/mailbox-full", { where: place(before.address) });
  const mailbox = withMessage(before, message, id);
  const { kind } = await world.store.commit([mailboxWrite(world, mailbox, version)]);
  if (kind !== "committed") return false;
  world.observe?.({ kind: "message-kept", depth: pruned(mailbox, world.clock.now()).bufs.length });
  return true;
}

function letterOf(
  world: World,
  request: MessageRequest,
  key: IdempotencyKey | undefined,
): Omit<Letter, "progress" | "parked"> {
  const { name, correlationKey = "", payload = {}, messageId, timeToLive } = request;
  checkPayloadSize(payload);
  const mid = messageId ?? key ?? world.ids.fresh();
  const now = world.clock.now();
  const lasts = checkedValue(parseDuration(timeToLive ?? DEFAULT_TIME_TO_LIVE));
  const expiresAt = addDuration(now, lasts);
  return {
    address: { name, key: correlationKey },
    message: { mid, payload, expiresAt },
    id: {
      mid,
      until: instantFrom(Math.max(expiresAt, now + MIN_MESSAGE_MEMORY_MS)),
      body: world.ids.digest(canonicalJson(payload)).slice(0, 8),
    },
    isFleeting: expiresAt <= now,
  };
}

const place = ({ name, key }: Address): string =>
  `message ${JSON.stringify(name)}, correlation key ${JSON.stringify(key)}`;
