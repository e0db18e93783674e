/**
 * Publishing a message. Who waits for it gets it; where nobody does, it begins what begins by it;
 * else it is kept for its time. Which of these it is, the mailbox's version decides: a wait that
 * begins meanwhile changes it, and the message is published anew.
 *
 * 1. To one taker it goes in one commit with the taker's step; a parked copy has it inside.
 * 2. To several it is first kept for exactly those, then each takes it in a commit of its own:
 *    whoever dies in between leaves it in the mailbox, where somebody will look.
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
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { answerCall, type Progress } from "../drive/commit-call.ts";
import { recheckInRequest } from "../drive/recheck.ts";
import { demandSameBody } from "../rows/broadcast.ts";
import {
  type Address,
  type Buffered,
  depthOf,
  hasRoom,
  mailboxItem,
  type ReadMailbox,
  type Remembered,
  readMailbox,
  rememberedAs,
  remembers,
  type Target,
  withMessage,
  withoutSubs,
} from "../rows/mailbox.ts";
import type { IdempotencyKey } from "../shapes/paging.ts";
import { checkPayloadSize } from "../shapes/payload-size.ts";
import type { MessageAnswer, MessageRequest } from "../shapes/signals.ts";
import { mailboxKey } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { beginBy, startsBy, takeIfItCan } from "./target.ts";
import { type Waiter, waitersOf, wantName } from "./waiters.ts";
import { wakeMailbox } from "./wake-mailbox.ts";

export async function publishMessage(
  world: World,
  request: MessageRequest,
  key?: IdempotencyKey,
): Promise<MessageAnswer> {
  const letter = letterOf(world, request, key);
  return answerCall(`message ${letter.message.mid}`, (progress) =>
    publishLetter(world, { ...letter, progress }),
  );
}

async function publishLetter(world: World, letter: Letter): Promise<MessageAnswer> {
  const { mid: messageId } = letter.message;
  let handed: Handed | undefined;
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const read = await readMailbox(world, letter.address);
    const known = rememberedAs(read.mailbox, messageId);
    if (known) {
      demandSameBody(known.body, letter.id.body, `message ${messageId}`);
      // Our own parked copy was quicker than we are.
      return handed === undefined
        ? { messageId, outcome: "duplicate" }
        : { messageId, outcome: "delivered", instanceId: handed.instanceId };
    }
    const answer = await publishOnce(world, letter, read);
    if ("outcome" in answer) return { messageId, ...answer };
    handed = answer.handed ?? handed;
    await world.clock.pause(2 + ((tries * 7) % 23));
  }
  return keepAndPoke(world, letter);
}

type Letter = Readonly<{
  address: Address;
  message: Buffered;
  /** How its mailbox remembers it. */
  id: Remembered;
  isFleeting: boolean;
  /** Of the call that publishes it. */
  progress: Progress;
}>;
type Answer = Omit<MessageAnswer, "messageId">;

/** What was read has changed, or will in a moment; a parked copy may be quicker. */
type Again = Readonly<{ handed?: Handed }>;
/** Whose copy is parked. */
type Handed = Readonly<{ instanceId: string }>;

async function publishOnce(
  world: World,
  letter: Letter,
  read: ReadMailbox,
): Promise<Answer | Again> {
  const waiters = await waitersOf(world, read.mailbox);
  if (waiters === "unsure") return {};
  const [only, ...others] = waiters;
  if (only && others.length === 0) return giveTo(world, letter, read, only);
  if (only) return giveToSeveral(world, letter, read, waiters.map(targetOf));
  const starts = await startsBy(world, letter.address.name);
  const [begun, ...more] = starts;
  if (begun && more.length === 0) return begin(world, letter, read, begun);
  if (begun)
    return giveToSeveral(
      world,
      letter,
      read,
      starts.map((definitionId) => ({ definitionId })),
    );
  return keep(world, letter, read);
}

const targetOf = ({ sub: { instanceId, ticket } }: Waiter): Target => ({ instanceId, ticket });

async function giveTo(
  world: World,
  letter: Letter,
  read: ReadMailbox,
  { image, ticket }: Waiter,
): Promise<Answer | Again> {
  const { address, id, progress } = letter;
  const message = { ...letter.message, expiresAt: longEnough(world, letter) };
  const name = wantName(ticket, message.mid);
  const instanceId = image.instance.id;
  const publishing = { post: { address, message, id }, read, progress };
  const looked = await recheckInRequest(world, image, { ticket: ticket.id, name, publishing });
  if (looked.kind === "again") return looked.isParked ? { handed: { instanceId } } : {};
  if (looked.kind === "nothing") return {};
  // Older ones that were still on their way go first.
  const isTaken = looked.image.instance.trail.entries.some(
    ({ type, data }) => type === "message-received" && namesMessage(data, message.mid),
  );
  return isTaken ? { outcome: "delivered", instanceId } : { outcome: "buffered" };
}

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
  return instanceId === undefined ? {} : { outcome: "started", instanceId };
}

/** Keeps it for exactly these first; each then takes it on its own. */
async function giveToSeveral(
  world: World,
  letter: Letter,
  read: ReadMailbox,
  targets: readonly Target[],
): Promise<Answer | Again> {
  const { address, id } = letter;
  const message = { ...letter.message, for: targets, expiresAt: longEnough(world, letter) };
  const box = withMessage(read.mailbox, message, id);
  if (!hasRoom(read.mailbox, message, world.clock.now())) throw full(address);
  if (!(await putBox(world, box, read.version))) return {};
  letter.progress.mayHappen = true;
  const takers: string[] = [];
  for (const target of targets) {
    const taker = await takeIfItCan(world, address, message, target);
    if (taker !== undefined) takers.push(taker);
  }
  // One of them may have gone meanwhile, and another wait may have come.
  await wakeMailbox(world, mailboxKey(world.settings.tenant, address.name, address.key));
  const [first] = takers;
  const isStart = targets.some((target) => "definitionId" in target);
  if (first === undefined) return { outcome: "buffered" };
  return { outcome: isStart ? "started" : "delivered", instanceId: first };
}

/** One that is only for who waits now must still live until those have it. */
const longEnough = (world: World, { message, isFleeting }: Letter): Instant =>
  isFleeting ? instantFrom(world.clock.now() + IN_FLIGHT_MS) : message.expiresAt;
const IN_FLIGHT_MS = 60_000;

async function keep(
  world: World,
  { address, message, id, isFleeting }: Letter,
  { version, mailbox }: ReadMailbox,
): Promise<Answer | Again> {
  if (isFleeting) throw noWaiter(address);
  if (!hasRoom(mailbox, message, world.clock.now())) throw full(address);
  // Whoever still stands there is known to be gone: nobody need look after the message.
  const left = withoutSubs(mailbox, () => true);
  const isKept = await putBox(world, withMessage(left, message, id), version);
  return isKept ? { outcome: "buffered" } : {};
}

/** Its taker is too busy for a call: the message waits in the mailbox, and the taker will look. */
async function keepAndPoke(world: World, letter: Letter): Promise<MessageAnswer> {
  const { address, message, id } = letter;
  const { version, mailbox } = await readMailbox(world, address);
  const { mid: messageId } = message;
  if (remembers(mailbox, messageId)) return { messageId, outcome: "duplicate" };
  if (!hasRoom(mailbox, message, world.clock.now())) throw full(address);
  const kept = { ...message, expiresAt: longEnough(world, letter) };
  if (!(await putBox(world, withMessage(mailbox, kept, id), version))) {
    throw busy(address);
  }
  letter.progress.mayHappen = true;
  const waiters = await waitersOf(world, mailbox);
  for (const { image, ticket } of waiters === "unsure" ? [] : waiters) {
    const { tenant, id: instanceId } = image.instance;
    const name = wantName(ticket, messageId);
    await world.parking.park({ kind: "look", tenant, instanceId, name, ticket: ticket.id });
  }
  return { messageId, outcome: "buffered" };
}

/** Puts a mailbox that has one more message in it; false when it has changed meanwhile. */
async function putBox(
  world: World,
  mailbox: ReadMailbox["mailbox"],
  version: number,
): Promise<boolean> {
  const put = mailboxItem(world, mailbox, version + 1);
  const when = version === 0 ? "absent" : { version };
  const { kind } = await world.store.commit([{ put, when }]);
  if (kind !== "committed") return false;
  world.observe?.({ kind: "message-kept", depth: depthOf(mailbox, world.clock.now()) });
  return true;
}

function letterOf(
  world: World,
  request: MessageRequest,
  key: IdempotencyKey | undefined,
): Omit<Letter, "progress"> {
  const { name, correlationKey = "", payload = {}, messageId, timeToLive } = request;
  checkPayloadSize(payload);
  const mid = messageId ?? key ?? world.ids.fresh();
  const now = world.clock.now();
  const expiresAt = addDuration(
    now,
    checkedValue(parseDuration(timeToLive ?? DEFAULT_TIME_TO_LIVE)),
  );
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

function noWaiter(address: Address): EngineError {
  return new EngineError("message/no-waiter", {
    happened: "Nobody waits for this message, and it was not to be kept",
    where: place(address),
    fix: "Give it a timeToLive to keep it until somebody waits, or check the correlation key.",
    retryable: false,
  });
}

function full(address: Address): EngineError {
  return new EngineError("message/mailbox-full", {
    happened: "The mailbox keeps as many messages as it can hold",
    where: place(address),
    fix: "Let instances take them, or send with a shorter timeToLive; nothing was stored.",
    retryable: true,
  });
}

function busy(address: Address): EngineError {
  return new EngineError("engine/busy", {
    happened: "Too many messages and waits meet at one mailbox",
    where: place(address),
    fix: "Send it again in a second, with the same messageId.",
    retryable: true,
  });
}
