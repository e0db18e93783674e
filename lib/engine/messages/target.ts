/** Those a message is for: waits that take it, and definitions that begin by it. */
import type { Variables } from "../../definition/json.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import type { Progress } from "../drive/commit-call.ts";
import { createInstance } from "../drive/creation.ts";
import { recheckInRequest } from "../drive/recheck.ts";
import { lifeOf } from "../rows/life.ts";
import {
  type Address,
  type Buffered,
  mailboxItem,
  readMailbox,
  type Target,
  withoutTarget,
} from "../rows/mailbox.ts";
import { openedBy } from "../rows/wait-row.ts";
import { parseBody } from "../storage/formats.ts";
import { mailboxKey, messageStartsPk } from "../storage/keys.ts";
import { readLatest, type Startable, spreadOf } from "../storage/latest.ts";
import { loadProgram } from "../storage/programs.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { wantName } from "./waiters.ts";

/** Ids of the definitions that begin by a message of this name, and may. */
export async function startsBy(world: World, name: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const range = { limit: 100, ...(after !== undefined && { after }) };
    const page = await world.store.scan(messageStartsPk(world.settings.tenant, name), range);
    for (const { key, body } of page.items) {
      const id = await readable(world, key, () => listeningId(world, body, name), isDamaged);
      if (id !== undefined && id !== "unreadable") ids.push(id);
    }
    after = page.next;
  } while (after !== undefined);
  return ids;
}

async function listeningId(
  world: World,
  body: Uint8Array,
  name: string,
): Promise<string | undefined> {
  const { definitionId } = parseMessageStart(body);
  return (await listening(world, definitionId, name)) && definitionId;
}

/** Begins an instance; undefined when the message has gone elsewhere meanwhile, or may not begin it. */
export async function beginBy(
  world: World,
  definitionId: string,
  { mail, payload }: Readonly<{ mail: NonNullable<CarriedStart["mail"]>; payload: Variables }>,
  progress?: Progress,
): Promise<string | undefined> {
  const { name, key, id } = mail;
  const start = await startOf(world, definitionId, mail, payload);
  if (start === undefined) return undefined;
  const instanceId = world.ids.digest(JSON.stringify(["message", definitionId, name, key, id.mid]));
  const created = await createInstance(world, instanceId, start, { progress });
  if (created.kind === "committed") return instanceId;
  const isThere = created.kind === "conflict" && created.current !== undefined;
  return isThere ? instanceId : undefined;
}

/**
 * One of several takes the message that is kept for it; gives who took it. One that has no room for
 * it holds up no other: it is told by an incident, when it looks. Neither does one that cannot be
 * read: the message is kept for it.
 */
export async function takeIfItCan(
  world: World,
  ...about: [address: Address, message: Buffered, target: Target]
): Promise<string | undefined> {
  const [{ name, key }] = about;
  const box = mailboxKey(world.settings.tenant, name, key);
  try {
    const taken = await readable(world, box, () => takeTarget(world, ...about));
    return taken === "unreadable" ? undefined : taken;
  } catch (cause) {
    if (cause instanceof EngineError && cause.code === "request/body-too-large") return undefined;
    throw cause;
  }
}

async function takeTarget(
  world: World,
  address: Address,
  message: Buffered,
  target: Target,
): Promise<string | undefined> {
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const taken = await takeOnce(world, address, message, target);
    if (taken !== "again") return taken;
    await world.clock.pause(2 + tries);
  }
  return undefined;
}

async function takeOnce(
  world: World,
  address: Address,
  { mid, payload, expiresAt }: Buffered,
  target: Target,
): Promise<string | undefined | "again"> {
  if ("definitionId" in target) {
    // It is remembered already: the mailbox keeps it for this start.
    const mail = { ...address, id: { mid, until: expiresAt, body: "" } };
    const begun = await beginBy(world, target.definitionId, { mail, payload });
    return begun ?? ((await isLeft(world, address, mid, target)) ? "again" : undefined);
  }
  const life = await lifeOfTarget(world, target);
  if (life.kind === "unsure") return "again";
  if (life.kind === "gone" || life.ticket.on !== "message") {
    return (await passOver(world, address, mid, target)) ? undefined : "again";
  }
  const { image, ticket } = life;
  const looked = await recheckInRequest(world, image, {
    ticket: ticket.id,
    name: wantName(ticket, mid),
  });
  if (looked.kind === "again") return "again";
  return target.instanceId;
}

/** It was seen to wait when the message was kept for it, so only its ticket can be in question. */
export const lifeOfTarget = (
  world: World,
  target: Extract<Target, { ticket: string }>,
): ReturnType<typeof lifeOf> =>
  lifeOf(world, { ...target, since: instantFrom(0), version: openedBy(target.ticket) });

async function isLeft(
  world: World,
  address: Address,
  mid: string,
  target: Extract<Target, { definitionId: string }>,
): Promise<boolean> {
  if (!(await listening(world, target.definitionId, address.name))) {
    await passOver(world, address, mid, target);
    return false;
  }
  const { mailbox } = await readMailbox(world, address);
  return mailbox.bufs.some((message) => message.mid === mid && message.for !== undefined);
}

/** It can never take it any more. */
export async function passOver(
  world: World,
  address: Address,
  mid: string,
  target: Target,
): Promise<boolean> {
  const { version, mailbox } = await readMailbox(world, address);
  const left = withoutTarget(mailbox, mid, target, false);
  const put = mailboxItem(world, left, version + 1);
  return (await world.store.commit([{ put, when: { version } }])).kind === "committed";
}

async function listening(
  world: World,
  definitionId: string,
  name: string,
): Promise<(Startable & Readonly<{ element: string }>) | undefined> {
  const head = await readLatest(world, definitionId);
  if (head === undefined || head.latest.state !== "enabled") return undefined;
  const { id, version, hash } = head.latest;
  const { definition } = await loadProgram(world, { id, version, hash });
  const found = definition.startEvents.find((it) => it.kind === "message" && it.name === name);
  if (found === undefined) return undefined;
  return { definition: { id, version, hash }, ...spreadOf(head.latest), element: found.element };
}

async function startOf(
  world: World,
  definitionId: string,
  mail: NonNullable<CarriedStart["mail"]>,
  payload: Variables,
): Promise<CarriedStart | undefined> {
  const found = await listening(world, definitionId, mail.name);
  if (found === undefined) return undefined;
  const { element, ...startable } = found;
  const request = world.ids.digest(JSON.stringify(["message", mail.name, mail.key, mail.id.mid]));
  const trigger = { element, payload };
  return {
    ...startable,
    now: world.clock.now(),
    request,
    fact: { kind: "started", input: { variables: {}, trigger } },
    mail,
  };
}

function parseMessageStart(body: Uint8Array): { definitionId: string } {
  return parseBody("message-start", body) as { definitionId: string };
}
