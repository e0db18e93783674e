// Signals as a small world: an instance that subscribes and is reached, callers that broadcast,
// pages that fan out, and messages that are redelivered until they are released.
//
// 1. A wait and its row are one commit. The row says which broadcasts are older than the wait: those
//    that the signal's head had counted when the subscriber read it first, before the commit.
// 2. After the commit the subscriber reads the head again and parks what it missed. That is owed by
//    its trigger: a redelivery repeats it.
// 3. A broadcast is counted in the head, put, published; then its pages look for rows.
// 4. The fence: a row whose instance is older than the row is a transaction in progress, not a
//    dead row. A dead row is removed only after everything that its wait's end owes was sent.
// 5. A small call delivers too, but sends nothing and tidies nothing: its copy on the bus does both.
//
// With queues in memory a crash ends everything. There a subscription expects the head to be as it
// was read, and a broadcast is published again at recovery until its fan-out has ended.
//
// Names: w1 is a wait, b1 a broadcast, w1@b1 the end of the one by the other (and its parked fact),
// bus:b1 the published broadcast, call:b1 its caller, k:w1@b1 a task that the end of w1 opens.

import type { Model, Step } from "./explore.ts";
import { moves } from "./signal-handler.ts";
import {
  accepting,
  type Bounds,
  broadcastOf,
  type Handler,
  type Image,
  type Mutant,
  onBus,
  type Rules,
  rowsOf,
  type State,
  stored,
  withHandler,
  withoutHandler,
} from "./signal-state.ts";

/** The world of one script within bounds, whole or with rules left out. */
export function signal(bounds: Bounds, ...mutants: readonly Mutant[]): Model<State> {
  const rules: Rules = {
    ...bounds,
    inMemory: bounds.queues === "memory",
    without: (rule) => mutants.includes(rule),
  };
  const instance: Image = { v: 1, start: true, waits: [], tasks: [], outbox: [] };
  return {
    initial: {
      instance,
      past: rules.without("eventual read of the instance") ? instance : null,
      applying: null,
      rows: [],
      head: [],
      put: [],
      published: [],
      fannedOut: [],
      queue: ["start", ...bounds.calls.map((b) => `call:${b}`)],
      sent: [],
      unanswered: [],
      interrupted: [],
      got: [],
      handlers: [],
      crashes: bounds.crashes ?? 0,
      duplicates: bounds.duplicates ?? 0,
      interrupts: bounds.interrupts ?? 0,
      wrong: null,
    },
    next: (state) => [
      ...received(rules, state),
      ...applied(state),
      ...interrupted(state),
      ...crashed(rules, state),
      ...state.handlers.flatMap((handler) => moves(rules, state, handler)),
    ],
    unsafe: ({ wrong }) => wrong ?? undefined,
    unfinished: lost,
  };
}

/** The stronger claim, at rest: each wait has its row, each row its wait. */
export function strayRow({ instance, rows, interrupted }: State): string | undefined {
  const unseen = instance.waits.find(({ id }) => !rows.some((row) => row.id === id));
  if (unseen !== undefined) return `${unseen.id} is open without a row`;
  const open = [...instance.waits.map(({ id }) => id), ...interrupted];
  const dead = rows.find(({ id }) => !open.includes(id));
  return dead && `the dead row of ${dead.id} is left`;
}

function lost({ instance, head, published, sent, handlers }: State): string | undefined {
  if (handlers.length > 0) return `${handlers[0]?.trigger} waits for ever`;
  const unsent = instance.tasks.find(({ id }) => !sent.includes(id)) ?? instance.outbox[0];
  if (unsent !== undefined) return `${unsent.id} is lost: nothing sends it`;
  for (const { id, h0, not, taken } of instance.waits) {
    const due = head.slice(h0).filter((b) => published.includes(b) && !not.includes(b));
    const missed = due.find((b) => !taken.includes(b));
    if (missed !== undefined) return `${missed} is lost: ${id} waits for it`;
  }
  return undefined;
}

function received(rules: Rules, state: State): Step<State>[] {
  const fenced = state.handlers.filter(({ phase, todo: [row] }) => {
    return phase === "look" && (row?.r ?? 0) > state.instance.v;
  });
  if (state.handlers.length - fenced.length >= rules.handlers) return [];
  const fresh = [...new Set(state.queue)].flatMap((name): Step<State>[] => {
    const next = withHandler(state, begun(rules, name));
    if (name.startsWith("call:")) {
      const queue = state.queue.filter((each) => each !== name);
      return [[`${name} begins`, { ...next, queue }]];
    }
    const copies = state.queue.filter((each) => each === name).length;
    const busy = state.handlers.filter(({ trigger }) => trigger === name).length;
    if (busy < copies) return [[`gets ${name}`, next]];
    const again = { ...next, duplicates: state.duplicates - 1 };
    return state.duplicates > 0 ? [[`gets ${name} again`, again, "optional"]] : [];
  });
  const again = state.unanswered.map((name): Step<State> => {
    const unanswered = state.unanswered.filter((each) => each !== name);
    const next = withHandler({ ...state, unanswered }, begun(rules, name));
    return [`${name} is repeated`, next, "optional"];
  });
  return [...fresh, ...again];
}

function begun(rules: Rules, trigger: string): Handler {
  const handler: Handler = {
    trigger,
    phase: "look",
    todo: [{ id: trigger.split("@")[0] ?? "", r: 0, after: 0 }],
    v: 0,
    h0: 0,
    owed: [],
    tidies: false,
  };
  if (trigger.startsWith("bus:")) return { ...handler, phase: "scan", todo: [] };
  if (trigger.startsWith("page:")) return { ...handler, todo: rowsOf(trigger) };
  if (!trigger.startsWith("call:")) return handler;
  const accept = accepting(broadcastOf(trigger));
  const owed = rules.without("small call before the bus") ? accept.slice(0, 2) : accept;
  return { ...handler, phase: "send", todo: [], owed };
}

/** The second half of a transaction becomes visible, whether its writer still lives or not. */
function applied(state: State): Step<State>[] {
  if (state.applying === null) return [];
  const handlers = state.handlers.map((each): Handler => {
    return each.phase === "applying" ? { ...each, phase: "send" } : each;
  });
  const { instance = state.instance, rows = [] } = state.applying;
  const next = { ...state, instance, rows: [...state.rows, ...rows], handlers, applying: null };
  return [["the other half is applied", next]];
}

function interrupted(state: State): Step<State>[] {
  if (state.interrupts === 0 || state.applying !== null) return [];
  return state.instance.waits.map(({ id }) => {
    const waits = state.instance.waits.filter((wait) => wait.id !== id);
    const next = {
      ...stored(state, { ...state.instance, waits }),
      interrupted: [...state.interrupted, id],
      interrupts: state.interrupts - 1,
    };
    return [`a timer interrupts ${id}`, next, "optional"];
  });
}

function crashed(rules: Rules, state: State): Step<State>[] {
  if (state.crashes === 0) return [];
  const crashes = state.crashes - 1;
  const calls = (handlers: readonly Handler[]) =>
    handlers.map(({ trigger }) => trigger).filter((trigger) => trigger.startsWith("call:"));
  if (!rules.inMemory) {
    return state.handlers.map((handler) => {
      const unanswered = [...state.unanswered, ...calls([handler])].toSorted();
      const next = { ...withoutHandler(state, handler), unanswered, crashes };
      return [`${handler.trigger} crashes, phase ${handler.phase}`, next, "optional"];
    });
  }
  const { start, outbox, tasks } = state.instance;
  const unasked = state.queue.filter((name) => name.startsWith("call:"));
  const due = state.put.filter((b) => !state.fannedOut.includes(b));
  const next = {
    ...state,
    handlers: [],
    queue: [...unasked, ...(start || outbox.length > 0 ? ["start"] : []), ...due.map(onBus)],
    sent: tasks.map(({ id }) => id),
    unanswered: [...state.unanswered, ...calls(state.handlers)].toSorted(),
    crashes,
  };
  return [["everything crashes, the next life recovers", next, "optional"]];
}
