/** The targets of a message: waits that take it, and definitions that begin by it. */
import type { Variables } from "../../definition/json.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { instantFrom } from "../../definition/time/instant.ts";
import {
  type Address,
  type Buffered,
  type Target,
  type WaitTarget,
  withoutTarget,
} from "../../kernel/mailbox.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import type { Item } from "../../ports/store.ts";
import type { Progress } from "../drive/commit-call.ts";
import { createInstance } from "../drive/creation.ts";
import { recheckInRequest } from "../drive/recheck.ts";
import { lifeOf } from "../rows/life.ts";
import { mailboxItem, readMailbox } from "../rows/mailbox.ts";
import { openedBy } from "../rows/wait-row.ts";
import { parseBody } from "../storage/formats.ts";
import { eachPage } from "../storage/items.ts";
import { mailboxKey, messageStartsPk } from "../storage/keys.ts";
import { listeningStart } from "../storage/latest.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import { isDamaged, readable, readEach } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { waiterIn, wantName } from "./waiters.ts";

/** Ids of the enabled definitions that a message of this name starts. */
export async function startsBy(world: World, name: string): Promise<readonly string[]> {
  const ids: string[] = [];
  const pk = messageStartsPk(world.settings.tenant, name);
  for await (const rows of eachPage((after) => world.store.scan(pk, { limit: 100, ...after }))) {
    const read = async ({ body }: Item) => {
      const { definitionId } = parseBody("message-start", body) as { definitionId: string };
      return (await listening(world, definitionId, name)) && definitionId;
    };
    ids.push(...(await readEach(world, rows, read, isDamaged)));
  }
  return ids;
}

const listening = (world: World, definitionId: string, name: string) =>
  listeningStart(world, definitionId, { kind: "message", name });

type Mail = NonNullable<CarriedStart["mail"]>;

/** Starts an instance; undefined when the message has gone elsewhere meanwhile, or may not start it. */
export async function beginBy(
  world: World,
  definitionId: string,
  { mail, payload }: Readonly<{ mail: Mail; payload: Variables }>,
  progress?: Progress,
): Promise<string | undefined> {
  const { name, key, id } = mail;
  const found = await listening(world, definitionId, name);
  if (found === undefined) return undefined;
  const input = { variables: {}, trigger: { element: found.element, payload } };
  const start: CarriedStart = {
    ...found.startable,
    now: world.clock.now(),
    request: world.ids.digest(JSON.stringify(["message", name, key, id.mid])),
    fact: { kind: "started", input },
    mail,
  };
  const instanceId = world.ids.digest(JSON.stringify(["message", definitionId, name, key, id.mid]));
  const created = await createInstance(world, instanceId, start, { progress });
  if (created.kind === "committed") return instanceId;
  const isThere = created.kind === "conflict" && created.current !== undefined;
  return isThere ? instanceId : undefined;
}

/** A message that its mailbox keeps for one of several targets. */
export type KeptMessage = Readonly<{ address: Address; message: Buffered; target: Target }>;

/**
 * One of several targets takes the message that is kept for it; gives the instance that took it. One
 * that has no room for it holds up no other: it raises an incident when it re-checks. Neither does
 * one that cannot be read: the message is kept for it.
 */
export async function takeIfItCan(world: World, kept: KeptMessage): Promise<string | undefined> {
  const { name, key } = kept.address;
  const box = mailboxKey(world.settings.tenant, name, key);
  try {
    const taken = await readable(world, box, () =>
      tryRepeatedly(world, { tries: MAX_TRIES_OF_DOOR }, () => takeOnce(world, kept)),
    );
    return taken === "unreadable" || taken instanceof Again ? undefined : taken;
  } catch (cause) {
    if (cause instanceof EngineError && cause.code === "request/body-too-large") return undefined;
    throw cause;
  }
}

async function takeOnce(world: World, kept: KeptMessage): Promise<string | undefined | Again> {
  const { address, message, target } = kept;
  const { mid, payload, expiresAt } = message;
  if ("definitionId" in target) {
    // It is remembered already: the mailbox keeps it for this start.
    const mail = { ...address, id: { mid, until: expiresAt, body: "" } };
    const begun = await beginBy(world, target.definitionId, { mail, payload });
    return begun ?? ((await isLeft(world, kept, target.definitionId)) ? again() : undefined);
  }
  const life = await lifeOfTarget(world, target);
  if (life.kind === "unsure") return again();
  const [waiter] = waiterIn(life);
  if (waiter === undefined) return (await passOver(world, kept)) ? undefined : again();
  const { image, ticket } = waiter;
  const about = { ticket: ticket.id, name: wantName(ticket, mid) };
  const looked = await recheckInRequest(world, image, about);
  return looked.kind === "again" ? again() : target.instanceId;
}

/** It was seen to wait when the message was kept for it, so only its ticket can be in question. */
export const lifeOfTarget = (world: World, target: WaitTarget): ReturnType<typeof lifeOf> =>
  lifeOf(world, { ...target, since: instantFrom(0), version: openedBy(target.ticket) });

async function isLeft(world: World, kept: KeptMessage, definitionId: string): Promise<boolean> {
  const { address, message } = kept;
  if (!(await listening(world, definitionId, address.name))) {
    await passOver(world, kept);
    return false;
  }
  const { mailbox } = await readMailbox(world, address);
  return mailbox.bufs.some((it) => it.mid === message.mid && it.for !== undefined);
}

/** Takes the target off the message, which it can never take any more. */
export async function passOver(
  world: World,
  { address, message, target }: KeptMessage,
): Promise<boolean> {
  const { version, mailbox } = await readMailbox(world, address);
  const left = withoutTarget(mailbox, message.mid, target, false);
  const put = mailboxItem(world, left, version + 1);
  return (await world.store.commit([{ put, when: { version } }])).kind === "committed";
}
