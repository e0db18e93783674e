// Callers that signal, send messages and events, and change definitions meanwhile.
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { EventConfig } from "../../../lib/shapes/signals.ts";
import type { Call, Caller, Desk } from "../scenarios/scenario.ts";
import { sourceOf } from "../world/host.ts";

/** When a call is made: not before an instant, and not before something else holds. */
type When = Readonly<{ atMs?: number; when?: (desk: Desk) => boolean }>;

export function talker(name: string, ...calls: readonly Call[]): Caller {
  return { name, calls };
}

/** This many waits are open. */
export const waits =
  (on: "signal" | "message" | "event", name: string, count: number) =>
  ({ waiting }: Desk): boolean =>
    waiting(on, name) === count;

/** Broadcasts a signal; its payload identifies it. */
export function signals(name: string, id: string, when: When = {}): Call {
  return call(`signal ${id}`, when, async ({ engine }) => {
    const { deliveredCount, startedCount } = await engine.signal({ name, id, payload: { by: id } });
    return `${deliveredCount} delivered, ${startedCount} started`;
  });
}

/** Longer than any standstill: a late wait in a run still finds it. */
const DAY = 86_400_000;

/** Sends a message. */
export function sends(
  name: string,
  messageId: string,
  { key = "", timeToLive, ...when }: When & Readonly<{ key?: string; timeToLive?: "PT5S" }> = {},
): Call {
  const payload = { got: messageId };
  return call(`send ${messageId}`, when, async ({ engine, sends: note }) => {
    note({ name, key, messageId, payload, timeToLiveMs: timeToLive === undefined ? DAY : 5_000 });
    const { outcome } = await engine.message({
      name,
      ...(key !== "" && { correlationKey: key }),
      messageId,
      payload,
      timeToLive: timeToLive ?? "P1D",
    });
    return outcome;
  });
}

/** Declares an event type. */
export function declares(name: string, config: Partial<EventConfig>): Call {
  return call(`declare ${name}`, {}, async ({ engine }) => {
    await engine.setEventType(name, {
      consumeOnRead: true,
      deliveryMode: "AfterWait",
      expireAfter: "P7D",
      onTargetTerminated: "discard",
      ...config,
    });
    return "declared";
  });
}

/** Broadcasts an event. */
export function publishes(name: string, id: string, when: When = {}): Call {
  return call(`publish ${id}`, when, async ({ engine }) => {
    const { outcome } = await engine.event({ name, id, payload: { was: id } });
    return outcome ?? "on its way";
  });
}

/** Sends an event to one instance, as soon as that exists. */
export function tells(target: string, name: string, id: string, when: When = {}): Call {
  return call(`tell ${id}`, when, async ({ engine, sendsTo, committedEntries }) => {
    if (committedEntries(target) === 0) return undefined;
    const payload = { was: id };
    sendsTo({ target, id, name, payload });
    const { outcome } = await engine.event({ name, id, target, payload });
    return outcome ?? "on its way";
  });
}

/** How often dead letters are listed that may never exist: their target may have ended before. */
const PATIENCE = 8;

/**
 * Replays dead letters until none is left, after there was one. A call that crashes may have
 * replayed its letter already: one that then finds no wait is removed.
 */
export function replays(name: string): Call {
  let [hasSeenOne, left] = [false, PATIENCE];
  return call(`replay ${name}`, { atMs: 5_000 }, async ({ engine, waiting }) => {
    const { items } = await engine.deadLetters({ name }, { limit: 10 });
    const [letter] = items;
    if (letter) hasSeenOne = true;
    else return hasSeenOne || left-- === 0 ? "none left" : undefined;
    const { outcome } = await engine.replayDeadLetter(letter.id);
    if (outcome === "dropped" && waiting("event", name) === 0) {
      await engine.removeDeadLetter(letter.id);
    }
    return undefined;
  });
}

export function deploys(definition: Compiled, when: When = {}): Call {
  return call(`deploy ${definition.id}`, when, async ({ engine }) => {
    await engine.deploy(sourceOf(definition));
    return "deployed";
  });
}

export function turns(id: string, how: "enable" | "disable" | "undeploy", when: When = {}): Call {
  return call(`${how} ${id}`, when, async ({ engine }) => {
    await engine[how](id);
    return how;
  });
}

function call(
  name: string,
  { atMs, when = () => true }: When,
  make: (desk: Desk) => Promise<string | undefined>,
): Call {
  // Once it held it counts: a repeat is made whatever has happened to the waits.
  let hasHeld = false;
  return {
    name,
    ...(atMs !== undefined && { atMs }),
    make: async (desk) => {
      hasHeld ||= when(desk);
      if (!hasHeld) return "again later";
      const note = await make(desk);
      return note === undefined ? "again later" : { kind: "done", note };
    },
    judge: (answer) =>
      answer.kind === "refused" && !EXPECTED.has(answer.code) ? answer.code : undefined,
  };
}

/** What the caller wanted to change has changed, or ended, meanwhile. */
const EXPECTED: ReadonlySet<string> = new Set([
  "instance/ended",
  "dead-letter/not-found",
  "definition/not-found",
]);
