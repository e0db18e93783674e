// An event for a single recipient as a small world: a publisher, instances that wait, a sweep.
//
// 1. The publisher puts the event E and its id in one transaction, with a due instant, and only then
//    looks for waits, the oldest first. If the id exists already, it only looks for waits.
// 2. An instance commits its wait with a row, and only then looks for E. What it finds is parked.
//    Both write before they read, so one of them sees the other. A redelivery looks again, once it
//    has read the row: a wait that is read open without its row is half a transaction.
// 3. Taking is one transaction of the instance and E's removal, so it happens once.
// 4. If no instance takes E, it stays without a due instant, or (AfterWait) it is dropped.
// 5. A caller parks a copy, the offer, before it delivers E. The offer sends what that owes.
//
// Names: A is an instance and its only wait, start:A opens it, A@e is the parked find and the name
// of its end, call:e the publisher, offer:e the copy, or the message of the sweep.

import type { Model, Step } from "./explore.ts";

/** Each leaves one rule out: the search must find what goes wrong without it. */
export const MUTANTS = [
  "no transaction",
  "no scan after the wait's commit",
  "no lookAt",
  "no fence",
  "id not remembered",
  "given away before the offer is parked",
  "redelivery does not look for the row",
] as const;

export type Mutant = (typeof MUTANTS)[number];

export type Bounds = Readonly<{
  mode: "kept" | "AfterWait";
  handlers: number;
  split?: boolean;
  crashes?: number;
  duplicates?: number;
  interrupts?: number;
}>;

type Instance = Readonly<{
  id: string;
  v: number;
  start: boolean;
  waits: boolean;
  /** The ticket that its end opened: owed by A@e. */
  owes: boolean;
}>;
type Row = Readonly<{ id: string; r: number }>;

type Handler = Readonly<{
  trigger: string;
  phase:
    | "put"
    | "scan"
    | "look"
    | "commit"
    | "remove"
    | "applying"
    | "seek"
    | "check"
    | "send"
    | "tidy"
    | "settle"
    | "finish";
  todo: readonly Row[];
  /** Versions read: of the instance, and of E (0: there is none). */
  v: number;
  ev: number;
  parked: boolean;
}>;

export type State = Readonly<{
  event: Readonly<{ v: number; lookAt: boolean }> | null;
  id: boolean;
  dropped: boolean;
  taken: readonly string[];
  /** The waits that were certainly open when E was put. */
  early: readonly string[];
  instances: readonly Instance[];
  rows: readonly Row[];
  /** The half of a subscription that is not visible yet. */
  applying: Readonly<{ row?: Row; instance?: Instance }> | null;
  queue: readonly string[];
  sent: readonly string[];
  unanswered: boolean;
  handlers: readonly Handler[];
  crashes: number;
  duplicates: number;
  interrupts: number;
  sweeps: number;
}>;

/** The world of one event and two waits within bounds, whole or with one rule left out. */
export function consumeOnce(bounds: Bounds, mutant?: Mutant): Model<State> {
  const rules: Rules = { ...bounds, without: (rule) => rule === mutant };
  const instances = ["A", "B"].map((id): Instance => {
    return { id, v: 1, start: true, waits: false, owes: false };
  });
  return {
    initial: {
      event: null,
      id: false,
      dropped: false,
      taken: [],
      early: [],
      instances,
      rows: [],
      applying: null,
      queue: ["call:e", "start:A", "start:B"],
      sent: [],
      unanswered: false,
      handlers: [],
      crashes: bounds.crashes ?? 0,
      duplicates: bounds.duplicates ?? 0,
      interrupts: bounds.interrupts ?? 0,
      sweeps: 2,
    },
    next: (state) => [
      ...received(rules, state),
      ...happened(state),
      ...crashed(state),
      ...state.handlers.flatMap((handler) => moves(rules, state, handler)),
    ],
    unsafe: ({ taken }) =>
      taken.length > 1 ? `taken twice, by ${taken.join(" and ")}` : undefined,
    unfinished: lost,
  };
}

function lost(state: State): string | undefined {
  const { event, id, dropped, taken, early, instances, rows, sent, handlers } = state;
  if (handlers.length > 0) return `${handlers[0]?.trigger} waits for ever`;
  const unsent = instances.find((each) => each.start || (each.owes && !sent.includes(each.id)));
  if (unsent !== undefined) return `what ${unsent.id} owes is lost`;
  const waiting = instances.filter(({ waits }) => waits).map((each) => each.id);
  if (event !== null && waiting.length > 0) return `the event is lost: ${waiting[0]} waits for it`;
  const missed = waiting.find((each) => early.includes(each));
  if (dropped && missed !== undefined) return `the event is dropped, though ${missed} waited`;
  if (id && event === null && !dropped && taken.length === 0) return "the event is gone";
  const unseen = waiting.find((each) => !rows.some((row) => row.id === each));
  return unseen && `${unseen} waits without a row`;
}

type Rules = Bounds & Readonly<{ without: (rule: Mutant) => boolean }>;

function received(rules: Rules, state: State): Step<State>[] {
  const fenced = state.handlers.filter(({ phase, todo: [row] }) => {
    return phase === "look" && row !== undefined && row.r > instanceOf(state, row.id).v;
  });
  if (state.handlers.length - fenced.length >= rules.handlers) return [];
  const fresh = state.queue.flatMap((name): Step<State>[] => {
    const next = withHandler(state, begun(name));
    if (name === "call:e") return [[`${name} begins`, { ...next, queue: less(state.queue, name) }]];
    if (!state.handlers.some(({ trigger }) => trigger === name)) return [[`gets ${name}`, next]];
    const again = { ...next, duplicates: state.duplicates - 1 };
    return state.duplicates > 0 ? [[`gets ${name} again`, again, "optional"]] : [];
  });
  const repeated = withHandler({ ...state, unanswered: false }, begun("call:e"));
  return state.unanswered ? [...fresh, ["call:e is repeated", repeated, "optional"]] : fresh;
}

function begun(trigger: string): Handler {
  const blank = { trigger, v: 0, ev: 0, parked: false, todo: [] };
  if (trigger === "call:e") return { ...blank, phase: "put" };
  if (trigger === "offer:e") return { ...blank, phase: "scan" };
  const id = trigger.replace("start:", "").replace("@e", "");
  return { ...blank, phase: "look", todo: [{ id, r: 0 }] };
}

/** What happens by itself: half a transaction becomes whole, a timer interrupts, the sweep runs. */
function happened(state: State): Step<State>[] {
  const { applying, instances, handlers, queue, event } = state;
  if (applying !== null) {
    const rows = applying.row === undefined ? state.rows : [...state.rows, applying.row];
    const whole = { ...withInstance(state, applying.instance), rows, applying: null };
    const awake = handlers.map((each): Handler => {
      return each.phase === "applying" ? { ...each, phase: "check" } : each;
    });
    return [["the other half is applied", { ...whole, handlers: awake }]];
  }
  const interrupts = instances.flatMap((each): Step<State>[] => {
    if (!each.waits || state.interrupts === 0) return [];
    const next = withInstance(state, { ...each, v: each.v + 1, waits: false });
    const left = { ...next, interrupts: state.interrupts - 1 };
    return [[`a timer interrupts ${each.id}`, left, "optional"]];
  });
  const isIdle = queue.length + handlers.length === 0;
  if (!isIdle || event?.lookAt !== true || state.sweeps === 0) return interrupts;
  const swept = { ...state, queue: ["offer:e"], sweeps: state.sweeps - 1 };
  return [...interrupts, ["the sweep looks", swept]];
}

function crashed(state: State): Step<State>[] {
  if (state.crashes === 0) return [];
  return state.handlers.map((handler) => {
    const unanswered = state.unanswered || handler.trigger === "call:e";
    const next = { ...withoutHandler(state, handler), unanswered, crashes: state.crashes - 1 };
    return [`${handler.trigger} crashes, phase ${handler.phase}`, next, "optional"];
  });
}

function moves(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, todo } = handler;
  const id = todo[0]?.id ?? "";
  const to = (label: string, change: Partial<Handler>, world: State = state): Step<State>[] => [
    [`${trigger} ${label}`, replaced(world, handler, { ...handler, ...change })],
  ];
  switch (handler.phase) {
    case "put": {
      if (state.id && !rules.without("id not remembered")) return to("is known", { phase: "scan" });
      const event = { v: 1, lookAt: !rules.without("no lookAt") };
      const waiting = state.applying === null ? state.instances.filter(({ waits }) => waits) : [];
      const early = waiting.map((each) => each.id);
      return to("puts E", { phase: "scan" }, { ...state, event, id: true, early });
    }
    case "scan": {
      const phase = state.rows.length > 0 ? "look" : "settle";
      return to("scans", { phase, todo: state.rows, ev: state.event?.v ?? 0 });
    }
    case "look":
      return look(rules, state, handler);
    case "commit":
      return state.applying === null ? commit(rules, state, handler) : [];
    case "applying":
      return [];
    case "remove":
      return to("[no transaction] removes E", { phase: "send" }, { ...state, event: null });
    case "seek":
      return state.rows.some((row) => row.id === id) || !instanceOf(state, id).waits
        ? to(`sees the row of ${id}`, { phase: "check" })
        : []; // comes back later
    case "check": {
      const found = state.event !== null && !rules.without("no scan after the wait's commit");
      const queue = found ? union(state.queue, `${id}@e`) : state.queue;
      return to(found ? "finds E" : "finds no E", { phase: "finish" }, { ...state, queue });
    }
    case "send":
      return to("sends", { phase: "tidy" }, { ...state, sent: union(state.sent, id) });
    case "tidy": {
      if (state.applying !== null) return [];
      const rows = state.rows.filter((row) => row.id !== id);
      const next = replaced(state, handler, onward(handler));
      return [[`${trigger} tidies ${id}`, { ...next, rows }]];
    }
    case "settle":
      return settle(rules, state, handler);
    case "finish": {
      const next = withoutHandler(state, handler);
      return [[`${trigger} is released`, { ...next, queue: less(state.queue, trigger) }]];
    }
  }
}

/** Reads the instance, and E again: if the wait is still open it may have it. */
function look(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, todo } = handler;
  const [row] = todo;
  if (row === undefined) return [];
  const { v, start, waits, owes } = instanceOf(state, row.id);
  if (v < row.r && !rules.without("no fence")) return []; // comes back later
  const ev = state.event?.v ?? 0;
  const to = (label: string, next: Handler): Step<State>[] => [
    [`${trigger} ${label}`, replaced(state, handler, next)],
  ];
  if (trigger.startsWith("start:")) {
    const blind = rules.without("redelivery does not look for the row");
    if (start) return to("begins", { ...handler, phase: "commit", v });
    if (!waits) return to("is gone", { ...handler, phase: "finish" });
    return to("is gone", { ...handler, phase: blind ? "check" : "seek" });
  }
  if (waits) {
    const wanted: Handler = { ...handler, phase: "commit", v, ev };
    return to(`finds ${row.id} waiting`, ev === 0 ? onward(handler) : wanted);
  }
  if (trigger === "call:e") return to(`finds ${row.id} gone`, onward(handler));
  return to(`finds ${row.id} gone`, { ...handler, phase: owes ? "send" : "tidy" });
}

function commit(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, todo, v, ev } = handler;
  const instance = instanceOf(state, todo[0]?.id ?? "");
  const { id } = instance;
  const again: Handler = { ...handler, phase: "look", v: 0 };
  const conflict: Step<State> = [`${trigger} conflicts`, replaced(state, handler, again)];
  if (instance.v !== v) return [conflict];
  if (trigger.startsWith("start:")) return subscribe(rules, state, handler, instance);
  const apart = rules.without("no transaction");
  if (!apart && state.event?.v !== ev) return [conflict];
  const early = rules.without("given away before the offer is parked");
  if (trigger === "call:e" && !handler.parked && !early) {
    const next = replaced(state, handler, { ...handler, parked: true });
    return [["call:e parks the offer", { ...next, queue: union(state.queue, "offer:e") }]];
  }
  const given = trigger === "call:e" ? "finish" : "send";
  const phase = apart ? "remove" : given;
  const stepped = withInstance(state, { ...instance, v: v + 1, waits: false, owes: true });
  const next = {
    ...replaced(stepped, handler, { ...handler, phase, v: 0, ev: 0, todo: todo.slice(0, 1) }),
    taken: [...state.taken, id].toSorted(),
    event: apart ? state.event : null,
  };
  return [[`${trigger} gives E to ${id}`, next]];
}

function subscribe(rules: Rules, state: State, handler: Handler, old: Instance): Step<State>[] {
  const instance = { ...old, v: old.v + 1, start: false, waits: true };
  const row = { id: old.id, r: instance.v };
  const label = `${handler.trigger} waits`;
  const rows = [...state.rows, row];
  const seen = (phase: "check" | "applying") =>
    replaced(state, handler, { ...handler, phase, v: 0 });
  if (rules.split !== true) return [[label, { ...withInstance(seen("check"), instance), rows }]];
  const half = seen("applying");
  return [
    [`${label}, at first only the row`, { ...half, rows, applying: { instance } }],
    [
      `${label}, at first only the instance`,
      { ...withInstance(half, instance), applying: { row } },
    ],
  ];
}

/** It was not taken: it stays without a due instant, or it is dropped. */
function settle(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, ev } = handler;
  const finished = replaced(state, handler, { ...handler, phase: "finish", ev: 0 });
  const { event } = state;
  // Finished by another reader, which scanned later. To scan again here would be wrong: the offer
  // that was parked for this call may have come and gone.
  if (event === null || event.v !== ev) return [[`${trigger} has no E to settle`, finished]];
  if (rules.mode === "AfterWait") {
    return [[`${trigger} drops E`, { ...finished, event: null, dropped: true }]];
  }
  if (!event.lookAt) return [[`${trigger} leaves E`, finished]];
  return [[`${trigger} keeps E`, { ...finished, event: { v: ev + 1, lookAt: false } }]];
}

/** The next row, or the end: facts have one row, scans finish what was not taken. */
function onward(handler: Handler): Handler {
  const todo = handler.todo.slice(1);
  const isScan = handler.trigger === "call:e" || handler.trigger === "offer:e";
  const phase = todo.length > 0 ? "look" : isScan ? "settle" : "finish";
  return { ...handler, phase, todo, v: 0 };
}

function instanceOf({ instances }: State, id: string): Instance {
  const found = instances.find((each) => each.id === id);
  if (found === undefined) throw new Error(`There is no instance ${id}.`);
  return found;
}

function withInstance(state: State, changed: Instance | undefined): State {
  const instances = state.instances.map((each) => (each.id === changed?.id ? changed : each));
  return { ...state, instances };
}

/** Sorted, and each once: equal sets look equal. */
function union(set: readonly string[], one: string): readonly string[] {
  return set.includes(one) ? set : [...set, one].toSorted();
}

function less(set: readonly string[], one: string): readonly string[] {
  return set.filter((each) => each !== one);
}

function withHandler(state: State, handler: Handler): State {
  return { ...state, handlers: [...state.handlers, handler].toSorted(inOrder) };
}

/** Any order will do, so that equal states look equal. */
function inOrder(a: Handler, b: Handler): number {
  if (a.trigger !== b.trigger) return a.trigger < b.trigger ? -1 : 1;
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

function withoutHandler(state: State, gone: Handler): State {
  return { ...state, handlers: state.handlers.toSpliced(state.handlers.indexOf(gone), 1) };
}

function replaced(state: State, handler: Handler, next: Handler): State {
  return withHandler(withoutHandler(state, handler), next);
}
