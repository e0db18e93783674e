/** Sending an event: to one instance, or broadcast as its type says. */
import { MAX_INBOX_BYTES } from "../../definition/limits.ts";
import { fitsInbox } from "../../kernel/inbox.ts";
import { type Instance, isTerminal } from "../../kernel/instance.ts";
import type { QueuedEvent } from "../../kernel/queued-event.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { IdempotencyKey } from "../../shapes/paging.ts";
import type { EventAnswer, EventRequest } from "../../shapes/signals.ts";
import { answerCall } from "../drive/commit-call.ts";
import { handleRequest } from "../drive/instance-request.ts";
import { checkPayloadSize } from "../rows/broadcast.ts";
import { configOf, expiryOf } from "../rows/event.ts";
import { peekHead } from "../rows/topic-head.ts";
import { completedReceipt, deliverInCall } from "../signals/signal.ts";
import type { World } from "../world.ts";
import { type AcceptedEvent, acceptEvent, type NewEvent, passOn } from "./accept-event.ts";
import { countReplay, removeLetter } from "./dead-letter.ts";
import { isDropped } from "./event-id.ts";
import { offerEvent } from "./offer-event.ts";

export async function sendEvent(
  world: World,
  { name, payload = null, target, id: given }: EventRequest,
  key?: IdempotencyKey,
): Promise<EventAnswer> {
  checkPayloadSize(payload);
  const id = given ?? key ?? world.ids.fresh();
  return target === undefined
    ? broadcastEvent(world, { id, name, payload })
    : sendTo(world, target, { id, name, payload, isKey: given === undefined });
}

async function sendTo(
  world: World,
  target: string,
  { id, name, payload, isKey }: NewEvent & Readonly<{ isKey: boolean }>,
): Promise<EventAnswer> {
  const config = configOf(await peekHead(world, { kind: "event", name }));
  const at = world.clock.now();
  const { onTargetTerminated } = config;
  const expiresAt = expiryOf(config, at);
  const event: QueuedEvent = { id, name, payload, at, expiresAt, onTargetTerminated };
  const { image } = await handleRequest(world, {
    instanceId: target,
    key: id,
    ...(!isKey && { keyName: `The event id ${JSON.stringify(id)}` }),
    body: ["event", name, payload],
    factFor: (instance) => {
      if (isTerminal(instance)) throw ended(instance);
      if (instance.sentEvents.includes(id)) return undefined;
      demandRoom(instance, event);
      return { kind: "event-sent", event };
    },
    nameFor: () => undefined,
  });
  const isQueued = image.instance.inbox.some((queued) => queued.id === id);
  return { id, outcome: isQueued ? "queued" : "delivered" };
}

/** Where it has not been delivered within the call, its receipt tells later. */
async function broadcastEvent(world: World, event: NewEvent): Promise<EventAnswer> {
  return answerCall(`event ${event.id}`, async (progress) => {
    const accepted = await acceptEvent(world, event);
    progress.mayHappen = true;
    return deliver(world, accepted);
  });
}

async function deliver(world: World, accepted: AcceptedEvent): Promise<EventAnswer> {
  const { id } = accepted;
  const broadcast = await passOn(world, accepted);
  if (broadcast === undefined) return offer(world, accepted);
  const counts = accepted.isNew
    ? await deliverInCall(world, broadcast)
    : await completedReceipt(world, broadcast);
  if (counts === undefined) return { id };
  const { delivered: deliveredCount } = counts;
  const isKept = accepted.mode !== "AfterWait";
  const outcome = deliveredCount > 0 ? "delivered" : isKept ? "queued" : "dropped";
  return { id, outcome, deliveredCount };
}

async function offer(world: World, { id, name, seq }: AcceptedEvent): Promise<EventAnswer> {
  const outcome = await offerEvent(world, name, seq);
  if (outcome === "unsure") return { id, outcome: "queued" };
  if (outcome !== "delivered") return { id, outcome };
  if (await isDropped(world, id)) return { id, outcome: "dropped" };
  return { id, outcome, deliveredCount: 1 };
}

/** Broadcasts a dead letter as a new event; the letter goes once that was taken or is kept. */
export async function replayDeadLetter(world: World, id: string): Promise<EventAnswer> {
  const { name, payload, replays, item } = await countReplay(world, id);
  const answer = await broadcastEvent(world, { id: `${id}~r${replays}`, name, payload });
  if (answer.outcome !== "dropped") await removeLetter(world, item);
  return answer;
}

function demandRoom(instance: Instance, event: QueuedEvent): void {
  const isAwaited = instance.tickets.some((it) => it.on === "event" && it.name === event.name);
  if (isAwaited || fitsInbox(instance, event)) return;
  const where = `instance ${instance.id}`;
  if (!fitsInbox({ inbox: [] }, event)) {
    throw new EngineError("request/body-too-large", {
      happened: `The event is larger than an inbox: ${MAX_INBOX_BYTES} bytes are the limit`,
      where,
      fix: "Keep large values elsewhere and send references to them.",
    });
  }
  throw new EngineError("event/inbox-full", { where });
}

const ended = ({ id, status }: Instance): EngineError =>
  new EngineError("instance/ended", {
    happened: `The instance has ended (${status}) and reads no events any more`,
    where: `instance ${id}`,
    fix: "Send it to another instance, or broadcast it without a target.",
  });
