// What publishers, subscribers and wake-ups do in the small world of a mailbox, call by call.

import type { Step } from "./explore.ts";
import {
  cleaned,
  type Handler,
  type Instance,
  instanceOf,
  lastOf,
  type Mail,
  put,
  type Rules,
  replaced,
  type State,
  type Sub,
  union,
  withInstance,
  withoutHandler,
} from "./mailbox-state.ts";

/** What a handler of a message, or a caller, may do next. */
export function moves(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger } = handler;
  switch (handler.phase) {
    case "look": {
      const { v, open } = instanceOf(state, trigger);
      const isOpen = open.some(({ id }) => id === trigger);
      const owed = open.filter(({ by }) => by === trigger).map(({ id }) => id);
      const next: Handler = isOpen
        ? { ...handler, phase: "mail", v }
        : { ...handler, phase: "send", owed };
      return [[`${trigger} is ${isOpen ? "open" : "gone"}`, replaced(state, handler, next)]];
    }
    case "mail":
      return readMail(rules, state, handler);
    case "judge":
      return judge(rules, state, handler);
    case "commit":
      return commit(rules, state, handler);
    case "applying":
      return [];
    case "send":
      return send(state, handler);
  }
}

function readMail(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, dead } = handler;
  const [kind, name = ""] = trigger.split(":");
  const { v: mv, subs, bufs, ids } = state.mail;
  const read: Handler = { ...handler, phase: "commit", mv, suspect: null };
  const to = (next: Handler): Step<State>[] => [
    [`${trigger} reads the mailbox v${mv}`, replaced(state, handler, next)],
  ];
  const judging = (suspect: Sub) => to({ ...read, phase: "judge", suspect });
  if (kind === "poke") {
    return judging(subs.find(({ id }) => id === name) ?? { id: name, r: 0 });
  }
  if (kind === "sub") {
    const rival = subs.find(({ id }) => !dead.includes(id) && isSameProcess(rules, id, name));
    return rival === undefined || rules.without("live sub replaced") ? to(read) : judging(rival);
  }
  const seen = rules.without("ids not remembered") ? undefined : ids.find(({ m }) => m === name);
  if (seen !== undefined) {
    const kept = bufs.find(({ m }) => m === name)?.for ?? [];
    const owed = seen.to === "start" ? [name] : kept.map((id) => `poke:${id}`);
    // The copy sends what the caller's commit owes.
    if (kind === "call") return to({ ...read, phase: "send" });
    return seen.to === null || seen.to === "start"
      ? to({ ...read, phase: "send", owed })
      : to({ ...read, phase: "judge", suspect: seen.to, isRepeated: true });
  }
  const live = subs.filter(({ id }) => !dead.includes(id));
  const [only] = live;
  const direct =
    live.length === 1 && bufs.length === 0 && !rules.without("append that ignores subs");
  return direct && only !== undefined ? judging(only) : to(read);
}

/** Reads the instance of a wait: is it open? */
function judge(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, suspect } = handler;
  if (suspect === null) return [];
  const stale = rules.without("eventual read of the instance");
  const now = instanceOf(state, suspect.id);
  const past = state.past?.find(({ id }) => id === now.id);
  const images = stale && past !== undefined ? [now, past] : [now];
  const fence = !stale && !rules.without("no fence");
  return images.flatMap((image): Step<State>[] => {
    if (fence && image.v < suspect.r) return []; // comes back later
    const isLive = image.wait?.id === suspect.id;
    const label = `${trigger} finds ${suspect.id} ${isLive ? "alive" : "dead"} in v${image.v}`;
    const next = judged(handler, image, isLive);
    return [[label, replaced(state, handler, next)]];
  });
}

function judged(handler: Handler, image: Instance, isLive: boolean): Handler {
  const { trigger, suspect } = handler;
  const [kind] = trigger.split(":");
  const id = suspect?.id ?? "";
  const owed = image.open.filter(({ by }) => by === id).map((ticket) => ticket.id);
  if (handler.isRepeated) return { ...done(handler), owed };
  if (kind === "poke") {
    return isLive
      ? { ...handler, phase: "commit", v: image.v }
      : { ...handler, phase: "commit", suspect: null, dead: [id], owed };
  }
  if (!isLive) {
    return { ...handler, phase: "mail", suspect: null, dead: union(handler.dead, [id]) };
  }
  return kind === "sub"
    ? { ...handler, phase: "commit" }
    : { ...handler, phase: "commit", v: image.v };
}

function commit(rules: Rules, state: State, handler: Handler): Step<State>[] {
  if (state.applying !== null) return [];
  const kind = handler.trigger.split(":")[0];
  if (kind === "sub") return subscribe(rules, state, handler);
  if (kind === "poke") return poke(rules, state, handler);
  return handler.suspect === null
    ? publish(rules, state, handler)
    : deliver(rules, state, handler, handler.suspect);
}

function subscribe(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, mv, v, suspect, dead } = handler;
  const instance = instanceOf(state, trigger);
  const blind = rules.without("sub without condition on the mailbox");
  if (instance.v !== v || (state.mail.v !== mv && !blind)) {
    return conflict(state, handler, "look");
  }
  const id = trigger.replace("sub:", "");
  const open = instance.open.filter((ticket) => ticket.id !== trigger);
  const stepped = { ...instance, v: v + 1, open };
  if (suspect !== null) {
    const next = withInstance(replaced(state, handler, done(handler)), stepped);
    return [[`${trigger} is refused: ${suspect.id} waits`, next]];
  }
  const rivals = state.mail.subs
    .map((sub) => sub.id)
    .filter((each) => isSameProcess(rules, each, id));
  const gone = rules.without("live sub replaced") ? rivals : dead;
  const base = cleaned(state.mail, gone);
  const free = base.bufs.find((buf) => buf.for === null);
  if (free !== undefined && (!blind || state.mail.v === mv)) {
    const mail = put({ ...base, bufs: base.bufs.filter((buf) => buf !== free) });
    const taken = took(rules, stepped, { wait: id, by: trigger, m: free.m });
    return both(rules, state, handler, { mail, instance: taken, label: `takes ${free.m}` });
  }
  const subs = [...base.subs, { id, r: v + 1 }];
  // Added to the current mailbox: the messages in it are not seen.
  const mail = blind ? { ...base, v: base.v + 1, subs } : put({ ...base, subs });
  return both(rules, state, handler, {
    mail,
    instance: { ...stepped, wait: { id } },
    label: "waits",
  });
}

function poke(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, mv, v, suspect, dead } = handler;
  const { mail } = state;
  if (suspect === null) {
    const clean = cleaned(mail, dead);
    const sending: Handler = { ...handler, phase: "send", mv: 0, v: 0, dead: [] };
    if (JSON.stringify(clean) === JSON.stringify(mail)) {
      return [[`${trigger} has nothing to clean`, replaced(state, handler, sending)]];
    }
    if (mail.v !== mv) return conflict(state, handler, "mail");
    const next = { ...replaced(state, handler, sending), mail: put(clean) };
    return [[`${trigger} cleans the mailbox`, next]];
  }
  const instance = instanceOf(state, suspect.id);
  if (mail.v !== mv || instance.v !== v) return conflict(state, handler, "mail");
  const isFor = (list: readonly string[] | null) => list === null || list.includes(suspect.id);
  const found = mail.bufs.find((buf) => isFor(buf.for));
  if (found === undefined) {
    return [[`${trigger} finds no mail`, replaced(state, handler, done(handler))]];
  }
  const bufs = mail.bufs.flatMap((buf) => {
    if (buf !== found) return [buf];
    return buf.for === null ? [] : [{ ...buf, taken: true }];
  });
  const { m } = found;
  const taken = took(rules, { ...instance, v: v + 1 }, { wait: suspect.id, by: suspect.id, m });
  const left = put(cleaned({ ...mail, bufs }, [suspect.id]));
  return both(rules, state, handler, { mail: left, instance: taken, label: `gives ${m}` });
}

function deliver(rules: Rules, state: State, handler: Handler, sub: Sub): Step<State>[] {
  const { trigger, mv, v, dead } = handler;
  const m = trigger.split(":")[1] ?? "";
  const instance = instanceOf(state, sub.id);
  if (state.mail.v !== mv) return conflict(state, handler, "mail");
  if (instance.v !== v) {
    const again = conflict(state, handler, "mail");
    return [...again, append(state, handler, [sub.id])];
  }
  if (mustPark(handler)) return [parked(state, handler, m)];
  const base = cleaned(state.mail, [...dead, sub.id]);
  const to = { id: sub.id, r: v + 1 };
  const mail = put({ ...base, ids: [...base.ids, { m, to }] });
  const taken = took(rules, { ...instance, v: v + 1 }, { wait: sub.id, by: sub.id, m });
  return both(rules, state, handler, { mail, instance: taken, label: `gives ${m} to ${sub.id}` });
}

function publish(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, mv, dead } = handler;
  const m = trigger.split(":")[1] ?? "";
  if (state.mail.v !== mv) return conflict(state, handler, "mail");
  const base = cleaned(state.mail, dead);
  if (rules.without("append that ignores subs")) {
    const kept = { ...base, v: base.v + 1, bufs: [...base.bufs, { m, for: null, taken: false }] };
    const mail = { ...kept, ids: [...base.ids, { m, to: null }] };
    return [[`${trigger} keeps ${m}`, { ...replaced(state, handler, done(handler)), mail }]];
  }
  if (base.subs.length > 0 || rules.starts !== true) {
    return [append(state, handler, base.subs.length > 0 ? base.subs.map(({ id }) => id) : null)];
  }
  if (mustPark(handler)) return [parked(state, handler, m)];
  const owing: Handler = { ...done(handler), owed: handler.trigger.startsWith("call:") ? [] : [m] };
  const next = replaced(state, handler, owing);
  const remembered = put({ ...base, ids: [...base.ids, { m, to: "start" }] });
  const mail = rules.without("start without the mailbox") ? state.mail : remembered;
  return [[`${trigger} starts an instance`, { ...next, mail, started: union(state.started, [m]) }]];
}

/** Keeps the message for the open waits; the mailbox then has both, and is due. */
function append(state: State, handler: Handler, waits: readonly string[] | null): Step<State> {
  const m = handler.trigger.split(":")[1] ?? "";
  const base = cleaned(state.mail, handler.dead);
  const bufs = [...base.bufs, { m, for: waits, taken: false }];
  const mail = put({ ...base, bufs, ids: [...base.ids, { m, to: null }] });
  const owed = (waits ?? []).map((id) => `poke:${id}`);
  const next = replaced(state, handler, { ...done(handler), owed });
  return [
    `${handler.trigger} keeps ${m} for ${waits?.join(" ") ?? "the next wait"}`,
    { ...next, mail },
  ];
}

type Change = Readonly<{ mail: Mail; instance: Instance; label: string }>;

/** One transaction of the mailbox and an instance, whole or visible in halves. */
function both(rules: Rules, state: State, handler: Handler, change: Change): Step<State>[] {
  const { mail, instance } = change;
  const before = instanceOf(state, instance.id).open.map(({ id }) => id);
  const opened = instance.open.map(({ id }) => id).filter((id) => !before.includes(id));
  const owed = handler.trigger.startsWith("call:") ? [] : opened;
  const next: Handler = { ...done(handler), owed };
  const label = `${handler.trigger} ${change.label}`;
  if (rules.split !== true) {
    return [[label, withInstance({ ...replaced(state, handler, next), mail }, instance)]];
  }
  const waiting = replaced(state, handler, { ...next, phase: "applying" });
  return [
    [`${label}, at first only the mailbox`, { ...waiting, mail, applying: { instance } }],
    [
      `${label}, at first only the instance`,
      { ...withInstance(waiting, instance), applying: { mail } },
    ],
  ];
}

function took(
  rules: Rules,
  instance: Instance,
  { wait, by, m }: Readonly<{ wait: string; by: string; m: string }>,
): Instance {
  const id = lastOf(rules, wait) ? `end:${wait}` : `sub:${instance.id}2`;
  return {
    ...instance,
    wait: null,
    got: [...instance.got, m],
    open: [...instance.open, { id, by }],
  };
}

function send(state: State, handler: Handler): Step<State>[] {
  const { trigger } = handler;
  const [first, ...owed] = handler.owed;
  if (first === undefined) {
    const queue = state.queue.filter((name) => name !== trigger);
    return [[`${trigger} is released`, { ...withoutHandler(state, handler), queue }]];
  }
  const next = replaced(state, handler, { ...handler, owed });
  const went = /^(sub|poke):/.test(first)
    ? { ...next, queue: union(state.queue, [first]) }
    : { ...next, sent: union(state.sent, [first]) };
  return [[`${trigger} sends ${first}`, went]];
}

/** A caller cannot be redelivered: before its commit owes anything, a copy is queued that can. */
function mustPark({ trigger, parked }: Handler): boolean {
  return trigger.startsWith("call:") && !parked;
}

function parked(state: State, handler: Handler, m: string): Step<State> {
  const next = replaced(state, handler, { ...handler, parked: true });
  return [`${handler.trigger} parks a copy`, { ...next, queue: union(state.queue, [`pub:${m}`]) }];
}

function conflict(state: State, handler: Handler, phase: "look" | "mail"): Step<State>[] {
  const next: Handler = { ...done(handler), phase };
  return [[`${handler.trigger} conflicts, looks again`, replaced(state, handler, next)]];
}

function done(handler: Handler): Handler {
  return {
    ...handler,
    phase: "send",
    mv: 0,
    v: 0,
    suspect: null,
    isRepeated: false,
    dead: [],
    owed: [],
  };
}

function isSameProcess({ waiters }: Rules, one: string, other: string): boolean {
  const processOf = (wait: string) => waiters.find(({ id }) => wait.startsWith(id))?.process;
  return processOf(one) === processOf(other);
}
