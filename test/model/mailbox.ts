// A mailbox as a small world: publishers, instances that subscribe, a timer that interrupts them.
//
// 1. The mailbox M is one item: open waits, kept messages, known message ids. Publishing and
//    subscribing are ordered by its version, and a wait is one commit of its instance and M.
// 2. A message for one wait is one commit of M and that wait's instance. If the instance is
//    contended, or M has other waits or messages, the message is kept `for` the open waits and they
//    are woken. A mailbox with waits and messages is due.
// 3. Each wait that it was kept for takes it once. It stays kept only if none took it.
// 4. A wait takes precedence over a message start; a start over keeping the message.
// 5. The fence: a wait counts as closed only for an instance that is not older than the wait.
//    A closed one may be replaced, an open one of the same process id may not.
//
// Names: m1 is a message, A1 the first wait of instance A. pub:m1 is a publication that is redelivered
// until it is done, call:m1 a caller that is not; sub:A1 opens a wait, poke:A1 wakes it.

import type { Model, Step } from "./explore.ts";
import { moves } from "./mailbox-handler.ts";
import {
  type Bounds,
  type Handler,
  type Instance,
  instanceOf,
  lastOf,
  type Mutant,
  type Rules,
  type State,
  union,
  withHandler,
  withInstance,
  withoutHandler,
} from "./mailbox-state.ts";

/** The world within bounds, whole or with rules left out. */
export function mailbox(bounds: Bounds, ...mutants: readonly Mutant[]): Model<State> {
  const rules: Rules = { ...bounds, without: (rule) => mutants.includes(rule) };
  const instances = bounds.waiters.map(({ id }): Instance => {
    return { id, v: 1, wait: null, open: [{ id: `sub:${id}1`, by: "start" }], got: [] };
  });
  return {
    initial: {
      mail: { v: 1, subs: [], bufs: [], ids: [], lookAt: false },
      instances,
      past: rules.without("eventual read of the instance") ? instances : null,
      started: [],
      applying: null,
      queue: [...instances.map(({ id }) => `sub:${id}1`), ...bounds.publications].toSorted(),
      sent: [],
      unanswered: [],
      handlers: [],
      crashes: bounds.crashes ?? 0,
      duplicates: bounds.duplicates ?? 0,
      interrupts: bounds.interrupts ?? 0,
      steps: bounds.steps ?? 0,
      sweeps: 3,
    },
    next: (state) => [
      ...received(rules, state),
      ...applied(state),
      ...interrupted(rules, state),
      ...stepped(state),
      ...crashed(state),
      ...swept(rules, state),
      ...state.handlers.flatMap((handler) => moves(rules, state, handler)),
    ],
    unsafe: (state) => twice(rules, state),
    unfinished: lost,
  };
}

/** The stronger claim, at rest: every open wait can be found in the mailbox. */
export function unseenWait({ instances, mail }: State): string | undefined {
  const unseen = instances.find(({ wait }) => {
    return wait !== null && !mail.subs.some(({ id }) => id === wait.id);
  });
  return unseen && `${unseen.wait?.id} waits unseen`;
}

function twice({ waiters }: Rules, state: State): string | undefined {
  const { mail, instances, started, applying } = state;
  if (applying !== null) return undefined;
  for (const { m } of mail.ids) {
    const takers = instances.filter(({ got }) => got.includes(m)).map(({ id }) => id);
    const processes = takers.map((id) => waiters.find((each) => each.id === id)?.process);
    const times = started.includes(m) ? takers.length + 1 : 1;
    if (instances.some(({ got }) => new Set(got).size < got.length)) return `${m} is taken twice`;
    if (times > 1 || new Set(processes).size < processes.length) return `${m} is taken twice`;
    const isKept = mail.bufs.some((buf) => buf.m === m && buf.for === null);
    if (isKept && (takers.length > 0 || started.includes(m))) return `${m} is kept though taken`;
  }
  const order = mail.ids.map(({ m }) => m);
  const late = instances.find(({ got }) => {
    return got.some((m, i) => i > 0 && order.indexOf(m) < order.indexOf(got[i - 1] ?? ""));
  });
  // With other process ids around, one may have had its mail before another's was given up.
  const isAlone = new Set(waiters.map(({ process }) => process)).size === 1;
  return late && isAlone ? `${late.id} gets its mail in another order` : undefined;
}

function lost({ mail, instances, started, sent, handlers }: State): string | undefined {
  if (handlers.length > 0) return `${handlers[0]?.trigger} waits for ever`;
  const open = [...instances.flatMap((each) => each.open.map(({ id }) => id)), ...started];
  const unsent = open.find((id) => id.startsWith("sub:") || !sent.includes(id));
  if (unsent !== undefined) return `${unsent} is lost: nothing sends it`;
  const stuck = mail.bufs.find((buf) => buf.for !== null);
  if (stuck !== undefined) return `${stuck.m} is lost: kept for ${stuck.for?.join(" ")}`;
  const waiting = instances.find(({ wait }) => wait !== null);
  if (waiting !== undefined && mail.bufs.length > 0) {
    return `${mail.bufs[0]?.m} is lost: ${waiting.wait?.id} waits for it`;
  }
  const gone = mail.ids.find(
    ({ m }) =>
      !mail.bufs.some((buf) => buf.m === m) &&
      !started.includes(m) &&
      !instances.some(({ got }) => got.includes(m)),
  );
  return gone && `${gone.m} is lost: it was neither taken nor kept`;
}

function received(rules: Rules, state: State): Step<State>[] {
  const fenced = state.handlers.filter(({ phase, suspect }) => {
    return phase === "judge" && (suspect?.r ?? 0) > instanceOf(state, suspect?.id ?? "").v;
  });
  if (state.handlers.length - fenced.length >= rules.handlers) return [];
  const fresh = state.queue.flatMap((name): Step<State>[] => {
    const next = withHandler(state, begun(name));
    if (name.startsWith("call:")) {
      const queue = state.queue.filter((each) => each !== name);
      return [[`${name} begins`, { ...next, queue }]];
    }
    if (!state.handlers.some(({ trigger }) => trigger === name)) return [[`gets ${name}`, next]];
    const again = { ...next, duplicates: state.duplicates - 1 };
    return state.duplicates > 0 ? [[`gets ${name} again`, again, "optional"]] : [];
  });
  const again = state.unanswered.map((name): Step<State> => {
    const unanswered = state.unanswered.filter((each) => each !== name);
    return [`${name} is repeated`, withHandler({ ...state, unanswered }, begun(name)), "optional"];
  });
  return [...fresh, ...again];
}

function begun(trigger: string): Handler {
  const phase = trigger.startsWith("sub:") ? "look" : "mail";
  const blank = { mv: 0, v: 0, suspect: null, isRepeated: false, dead: [], owed: [] };
  return { trigger, phase, ...blank, parked: false };
}

/** The second half of a transaction becomes visible, whether its writer still lives or not. */
function applied(state: State): Step<State>[] {
  if (state.applying === null) return [];
  const handlers = state.handlers.map((each): Handler => {
    return each.phase === "applying" ? { ...each, phase: "send" } : each;
  });
  const { mail = state.mail, instance } = state.applying;
  const next = { ...state, mail, handlers, applying: null };
  const whole = instance === undefined ? next : withInstance(next, instance);
  return [["the other half is applied", whole]];
}

/** The wait ends, its entry in the mailbox stays; the instance may wait again. */
function interrupted(rules: Rules, state: State): Step<State>[] {
  if (state.interrupts === 0 || state.applying !== null) return [];
  return state.instances.flatMap((instance): Step<State>[] => {
    if (instance.wait === null) return [];
    const { id } = instance.wait;
    const again = lastOf(rules, id) ? [] : [`sub:${instance.id}2`];
    const open = [...instance.open, ...again.map((each) => ({ id: each, by: "timer" }))];
    const next = withInstance(state, { ...instance, v: instance.v + 1, wait: null, open });
    const queue = union(state.queue, again);
    const interrupts = state.interrupts - 1;
    return [[`a timer interrupts ${id}`, { ...next, queue, interrupts }, "optional"]];
  });
}

function stepped(state: State): Step<State>[] {
  if (state.steps === 0 || state.applying !== null) return [];
  return state.instances.flatMap((instance): Step<State>[] => {
    if (instance.wait === null) return [];
    const next = withInstance(state, { ...instance, v: instance.v + 1 });
    return [[`${instance.id} takes another step`, { ...next, steps: state.steps - 1 }, "optional"]];
  });
}

function crashed(state: State): Step<State>[] {
  if (state.crashes === 0) return [];
  return state.handlers.map((handler) => {
    const { trigger, phase } = handler;
    const calls = trigger.startsWith("call:") ? [trigger] : [];
    const unanswered = union(state.unanswered, calls);
    const next = { ...withoutHandler(state, handler), unanswered, crashes: state.crashes - 1 };
    return [`${trigger} crashes, phase ${phase}`, next, "optional"];
  });
}

/** Re-checks only when nothing else moves: a sweep that comes earlier is one more wake-up. */
function swept(rules: Rules, state: State): Step<State>[] {
  const { mail, sweeps, queue, handlers, applying } = state;
  const moving = queue.length + handlers.length > 0 || applying !== null;
  if (moving || !mail.lookAt || sweeps === 0 || rules.without("no sweeper")) return [];
  const pokes = mail.subs.map(({ id }) => `poke:${id}`);
  return [["the sweep looks", { ...state, queue: pokes, sweeps: sweeps - 1 }]];
}
