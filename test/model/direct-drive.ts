// Direct drive as a small world: one instance, a queue that redelivers at any moment, handlers that
// crash at any moment or continue long after the queue has redelivered their message. Tasks only.
//
// 1. A handler reads the instance, consumes its trigger's ticket under the version that it read,
//    sends what that step owes, and releases its trigger last of all.
// 2. Each open ticket has the trigger that owes it (`by`) and the handler that owns it (`own`).
// 3. A handler that consumed the ticket of its own trigger may run the one task that is still owed.
// 4. A handler that finds the ticket of its trigger closed takes over what that trigger owes, sends
//    it, and runs nothing.
// 5. A handler that met a conflict may park its outcome; a parked outcome is never parked again.
//
// The queue holds names: k1 is a task's message, park:k1 its parked outcome. A name is there or not,
// as if the queue dropped every copy: what survives that survives a queue that keeps them.

import type { Model, Step } from "./explore.ts";

/** Each leaves one rule out: the search must find what goes wrong without it. */
export const MUTANTS = [
  "no by",
  "by is the predecessor",
  "no take-over",
  "driver ignores own",
  "redelivery continues in place",
  "parked fact is parked again",
  "put without condition",
] as const;

export type Mutant = (typeof MUTANTS)[number];

export type Bounds = Readonly<{ handlers: number; deliveries: number; crashes: number }>;

/** Which tasks a task's completion opens; the first one is called k1. */
export type Graph = Readonly<Record<string, readonly string[]>>;

export const CHAIN: Graph = { k1: ["k2"], k2: ["k3"], k3: [] };
export const FORK: Graph = { k1: ["k2", "k3"], k2: [], k3: [] };
export const FORK_AND_ON: Graph = { k1: ["k2", "k3"], k2: ["k4"], k3: [], k4: [] };

export type Entry = Readonly<{ ticket: string; by: string | null; own: number | null }>;
type Image = Readonly<{ v: number; open: readonly Entry[] }>;

type Handler = Readonly<{
  id: number;
  trigger: string;
  /** What it works on: its trigger's ticket, or a later one that it runs in place. */
  ticket: string;
  phase: "reading" | "deciding" | "redelivered" | "dispatching";
  /** The instance as it last read or wrote it; forgotten when no rule asks for it any more. */
  image: Image | null;
  owed: readonly string[];
  /** Whether it may continue in place: it consumed the ticket of its own trigger. */
  drives: boolean;
}>;

export type State = Readonly<{
  instance: Image & Readonly<{ done: readonly string[] }>;
  queue: readonly string[];
  handlers: readonly Handler[];
  /** What is left of the bounds. */
  deliveries: number;
  crashes: number;
}>;

/** The world of one graph within bounds, whole or with one rule left out. */
export function directDrive(graph: Graph, bounds: Bounds, mutant?: Mutant): Model<State> {
  const rules: Rules = { graph, without: (rule) => rule === mutant };
  const { deliveries, crashes } = bounds;
  return {
    initial: {
      instance: { v: 1, open: [{ ticket: "k1", by: "start", own: null }], done: [] },
      queue: ["k1"],
      handlers: [],
      deliveries,
      crashes,
    },
    next: (state) => [
      ...received(state, bounds),
      ...state.handlers.flatMap((handler) => [
        ...moves(rules, state, handler),
        ...crashed(state, handler),
      ]),
    ],
    unsafe: ({ instance }) => {
      const twice = instance.done.find((ticket, i) => instance.done.indexOf(ticket) !== i);
      return twice && `${twice} was consumed twice`;
    },
    // With messages left over only the deliveries have run out: such an end shows nothing.
    unfinished: ({ instance, queue }) =>
      queue.length === 0 && instance.open.length > 0
        ? `${instance.open[0]?.ticket} is lost: open, while nothing runs and nothing is queued`
        : undefined,
  };
}

/** The stronger claim: whenever no handler is left, each open ticket is queued, or its `by` is. */
export function owedByNobody({ instance, queue, handlers }: State): string | undefined {
  if (handlers.length > 0) return undefined;
  const names = queue.map(ticketOf);
  const orphan = instance.open.find(
    ({ ticket, by }) => !names.includes(ticket) && (by === null || !names.includes(by)),
  );
  return orphan && `${orphan.ticket} is owed without a message`;
}

type Rules = Readonly<{ graph: Graph; without: (rule: Mutant) => boolean }>;

function received(state: State, bounds: Bounds): Step<State>[] {
  if (state.deliveries === 0 || state.handlers.length === bounds.handlers) return [];
  const id = bounds.deliveries - state.deliveries + 1;
  return state.queue.map((trigger) => {
    const handler: Handler = {
      id,
      trigger,
      ticket: ticketOf(trigger),
      phase: "reading",
      image: null,
      owed: [],
      drives: false,
    };
    const next = {
      ...state,
      handlers: [...state.handlers, handler],
      deliveries: state.deliveries - 1,
    };
    // A message with a running handler is redelivered only if that handler is slow.
    return state.handlers.some((other) => other.trigger === trigger)
      ? [`h${id} gets ${trigger} again`, next, "optional"]
      : [`h${id} gets ${trigger}`, next];
  });
}

function crashed(state: State, handler: Handler): Step<State>[] {
  if (state.crashes === 0) return [];
  const next = { ...withoutHandler(state, handler), crashes: state.crashes - 1 };
  return [[`h${handler.id} crashes while ${handler.phase}`, next, "optional"]];
}

function moves(rules: Rules, state: State, handler: Handler): Step<State>[] {
  switch (handler.phase) {
    case "reading":
      return [look(state, handler, `h${handler.id} reads`)];
    case "deciding":
      return decide(rules, state, handler);
    case "dispatching":
      return dispatch(rules, state, handler);
    case "redelivered":
      return redelivered(rules, state, handler);
  }
}

/** Takes the instance as it is now; whether the ticket is still there says how to go on. */
function look(state: State, handler: Handler, label: string): Step<State> {
  const image = imageOf(state);
  const phase = isOpen(image, handler.ticket) ? "deciding" : "redelivered";
  return [`${label} ${handler.ticket} ${phase}`, withHandler(state, { ...handler, image, phase })];
}

function decide(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { id, ticket, trigger, image } = handler;
  if (image === null) return [];
  if (image.v === state.instance.v) return [commit(rules, state, handler, image)];
  const unconditional = rules.without("put without condition");
  if (unconditional) return [commit(rules, state, handler, image)];

  const entry = state.instance.open.find((each) => each.ticket === ticket);
  const inPlace = ticket !== ticketOf(trigger);
  if (entry !== undefined && inPlace && entry.own !== id) {
    if (rules.without("driver ignores own")) {
      return [look(state, handler, `h${id} [driver ignores own] looks again`)];
    }
    const parked = withoutHandler({ ...state, queue: put(state.queue, `park:${ticket}`) }, handler);
    return [[`h${id} finds ${ticket} under another, parks it and stops`, parked]];
  }
  const again = look(state, handler, `h${id} looks again`);
  return entry === undefined ? [again] : [again, ...park(rules, state, handler)];
}

function park(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const isParked = handler.trigger.startsWith("park:");
  if (isParked && !rules.without("parked fact is parked again")) return [];
  const mark = isParked ? "[parked fact is parked again] " : "";
  const queue = put(state.queue, `park:${handler.ticket}`);
  const done: Handler = { ...handler, phase: "dispatching", image: null, owed: [] };
  const next = withHandler({ ...state, queue }, done);
  return [[`h${handler.id} ${mark}parks ${handler.ticket}`, next]];
}

function commit(rules: Rules, state: State, handler: Handler, image: Image): Step<State> {
  const { id, ticket, trigger } = handler;
  const mine = ticketOf(trigger);
  const isPredecessor = rules.without("by is the predecessor") && ticket !== mine;
  const by = rules.without("no by") ? null : isPredecessor ? ticket : mine;
  const owed = rules.graph[ticket] ?? [];
  const opened = owed.map((each): Entry => ({ ticket: each, by, own: id }));
  const instance = {
    v: image.v + 1,
    open: [...image.open.filter((entry) => entry.ticket !== ticket), ...opened],
    done: [...state.instance.done, ticket].toSorted(),
  };
  const marks = [
    by === null ? "[no by] " : "",
    isPredecessor ? "[by is the predecessor] " : "",
    image.v === state.instance.v ? "" : "[put without condition] ",
  ].join("");
  const drives = handler.drives || ticket === mine;
  const written = { v: instance.v, open: instance.open };
  const next: Handler = { ...handler, phase: "dispatching", image: written, owed, drives };
  return [
    `h${id} ${marks}consumes ${ticket}, owes ${owed.join(" ") || "nothing"}`,
    withHandler({ ...state, instance }, next),
  ];
}

function dispatch(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { id, owed, trigger } = handler;
  const [only, ...others] = owed;
  if (only === undefined) {
    const queue = state.queue.filter((name) => name !== trigger);
    return [[`h${id} lets ${trigger} go`, withoutHandler({ ...state, queue }, handler)]];
  }
  const sent = owed.map((ticket): Step<State> => {
    const rest = owed.filter((other) => other !== ticket);
    const image = rest.length === 0 ? null : handler.image;
    const next = withHandler(state, { ...handler, owed: rest, image });
    return [`h${id} sends ${ticket}`, { ...next, queue: put(state.queue, ticket) }];
  });
  const mutated = !handler.drives && rules.without("redelivery continues in place");
  // Parked outcomes are stepped by a function that has no task handlers.
  const mayDrive = (handler.drives || mutated) && !trigger.startsWith("park:");
  if (!mayDrive || others.length > 0) return sent;
  const mark = mutated ? "[redelivery continues in place] " : "";
  const driving: Handler = { ...handler, ticket: only, phase: "deciding", owed: [] };
  return [...sent, [`h${id} ${mark}runs ${only} in place`, withHandler(state, driving)]];
}

/** The ticket of the trigger is closed: what that trigger still owes must be sent. */
function redelivered(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { id, trigger, image } = handler;
  if (image === null) return [];
  const mine = ticketOf(trigger);
  const debts = image.open.filter((entry) => entry.by === mine);
  const owed = debts.map((entry) => entry.ticket);
  const sending: Handler = { ...handler, phase: "dispatching", owed, drives: false };
  const others = debts.filter(({ own }) => own !== null && own !== id);
  if (others.length === 0) {
    return [[`h${id} owes ${owed.join(" ") || "nothing"} more`, withHandler(state, sending)]];
  }
  const later: Step<State> = [`h${id} leaves ${trigger} for later`, withoutHandler(state, handler)];
  if (rules.without("no take-over")) {
    return [later, [`h${id} [no take-over] owes ${owed.join(" ")}`, withHandler(state, sending)]];
  }
  if (image.v !== state.instance.v) {
    return [later, look(state, handler, `h${id} cannot take over, looks again`)];
  }
  const open = image.open.map((entry) => (entry.by === mine ? { ...entry, own: id } : entry));
  const instance = { ...state.instance, v: image.v + 1, open };
  const written = { ...sending, image: { v: instance.v, open } };
  return [
    later,
    [`h${id} takes over ${owed.join(" ")}`, withHandler({ ...state, instance }, written)],
  ];
}

function ticketOf(name: string): string {
  return name.replace("park:", "");
}

function imageOf({ instance: { v, open } }: State): Image {
  return { v, open };
}

function isOpen(image: Image, ticket: string): boolean {
  return image.open.some((entry) => entry.ticket === ticket);
}

/** Sorted, and each name once: equal queues look equal. */
function put(queue: readonly string[], name: string): readonly string[] {
  return queue.includes(name) ? queue : [...queue, name].toSorted();
}

function withHandler(state: State, changed: Handler): State {
  const handlers = state.handlers.map((each) => (each.id === changed.id ? changed : each));
  return { ...state, handlers };
}

function withoutHandler(state: State, gone: Handler): State {
  return { ...state, handlers: state.handlers.filter(({ id }) => id !== gone.id) };
}
