// What callers, pages, parked facts and subscribers do in the small world of signals, call by call.

import type { Step } from "./explore.ts";
import {
  accepting,
  broadcastOf,
  type Entry,
  type Handler,
  type Image,
  type Opening,
  onBus,
  type Row,
  type Rules,
  replaced,
  type State,
  stored,
  union,
  type Wait,
  withoutHandler,
} from "./signal-state.ts";

/** What a handler of a message, or a caller, may do next. */
export function moves(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, todo } = handler;
  switch (handler.phase) {
    case "scan": {
      const seq = state.head.indexOf(broadcastOf(trigger)) + 1;
      const found = state.rows.filter(({ after }) => after < seq);
      const isBus = trigger.startsWith("bus:");
      const inPlace = !isBus || rules.inMemory || rules.inPlace === true;
      const phase = found.length === 0 ? "finish" : inPlace ? "look" : "send";
      const owed = phase === "send" ? [pageOf(trigger, found)] : [];
      const next: Handler = { ...handler, phase, todo: inPlace ? found : [], owed };
      return [[`${trigger} finds ${ids(found)}`, replaced(state, handler, next)]];
    }
    case "look":
      return look(rules, state, handler);
    case "head": {
      const phase = rules.without("row before the instance") ? "put rows" : "commit";
      const next: Handler = { ...handler, phase, h0: state.head.length };
      return [[`${trigger} reads head ${next.h0}`, replaced(state, handler, next)]];
    }
    case "put rows": {
      const rows = opened(rules, handler).filter(({ id }) => !state.rows.some((r) => r.id === id));
      const next = replaced(state, handler, { ...handler, phase: "commit" });
      const label = `${trigger} [row before the instance] puts ${ids(rows)}`;
      return [[label, { ...next, rows: [...state.rows, ...rows] }]];
    }
    case "commit":
      return commit(rules, state, handler);
    case "applying":
      return [];
    case "send":
      return send(rules, state, handler);
    case "tidy": {
      if (state.applying !== null) return [];
      const rows = state.rows.filter(({ id }) => id !== todo[0]?.id);
      // Only the mutant that tidies first has something left to send.
      const next: Handler =
        handler.owed.length > 0 ? { ...handler, phase: "send", tidies: false } : onward(handler);
      return [[`${trigger} tidies ${todo[0]?.id}`, { ...replaced(state, handler, next), rows }]];
    }
    case "finish": {
      const at = state.queue.indexOf(trigger);
      const queue = at < 0 ? state.queue : state.queue.toSpliced(at, 1);
      const done = trigger.startsWith("bus:") ? [broadcastOf(trigger)] : [];
      const fannedOut = rules.inMemory ? union(state.fannedOut, done) : state.fannedOut;
      const next = { ...withoutHandler(state, handler), queue, fannedOut };
      return [[`${trigger} is released`, next]];
    }
  }
}

/** Reads the instance: is the wait still there, and is this broadcast for it? */
function look(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, todo } = handler;
  const row = todo[0];
  if (row === undefined) return [];
  const stale = rules.without("eventual read of the instance");
  const images = stale && state.past !== null ? [state.instance, state.past] : [state.instance];
  const fence = !rules.without("no fence") && !stale;
  return images.flatMap((image): Step<State>[] => {
    if (fence && image.v < row.r) return []; // comes back later
    const seen: Handler = { ...handler, v: image.v };
    const mark = `${stale ? "[eventual read of the instance] " : ""}`;
    const label = `${trigger} ${mark}reads ${row.id} v${image.v}`;
    const reading: Handler = {
      ...seen,
      phase: opens(rules, row.id).length > 0 ? "head" : "commit",
    };
    if (row.id === "start" && image.start) return [[label, replaced(state, handler, reading)]];
    const b = broadcastOf(trigger);
    const wait = image.waits.find(({ id }) => id === row.id);
    if (wait !== undefined && !isTaken(rules, state, wait, b)) {
      const own = wait.not.includes(b);
      if (!own || rules.without("notIds ignored")) {
        const marked = own ? `${label} [notIds ignored]` : label;
        return [[marked, replaced(state, handler, reading)]];
      }
      return [[`${label}: its own`, replaced(state, handler, onward(seen))]];
    }
    const unfenced = image.v < row.r ? "[no fence] " : "";
    const gone = redelivered(rules, image, seen, wait === undefined);
    return [[`${label}: ${unfenced}gone`, replaced(state, handler, gone)]];
  });
}

function isTaken(rules: Rules, state: State, { taken }: Wait, b: string): boolean {
  if (!rules.without("highest number for all")) return taken.includes(b);
  return taken.some((other) => state.head.indexOf(other) >= state.head.indexOf(b));
}

/**
 * What this name still owes must be sent; then a dead row may be removed, if no other delivery
 * needs it.
 */
function redelivered(rules: Rules, image: Image, handler: Handler, isDead: boolean): Handler {
  if (handler.trigger.startsWith("call:")) return onward(handler);
  const name = nameOf(handler);
  const of = (entry: Entry) => entry.by === name;
  // A wait that is read open without its row is half a transaction.
  const seek = rules.without("redelivery does not look for the row") ? [] : ["seek"];
  const owed = [
    ...image.outbox.filter(of).flatMap(({ id }) => [...accepting(id), `drop:${id}`]),
    ...image.tasks.filter(of).map(({ id }) => id),
    ...(rules.inMemory
      ? []
      : image.waits
          .filter(of)
          .flatMap(({ id, h0 }) => [...seek, "check"].map((verb) => `${verb}:${id}:${h0}`))),
  ];
  const others = [...image.waits, ...image.tasks].filter(
    (entry) => !of(entry) && entry.by.startsWith(`${handler.todo[0]?.id}@`),
  );
  const needed = rules.without("row removed by another broadcast")
    ? []
    : rules.without("row kept for small calls only")
      ? others.filter(({ own }) => own === null)
      : others;
  const tidies = isDead && needed.length === 0 && name !== "start";
  return { ...handler, phase: "send", v: 0, h0: 0, owed, tidies };
}

function commit(rules: Rules, state: State, handler: Handler): Step<State>[] {
  if (state.applying !== null) return [];
  const { trigger, todo, v, h0 } = handler;
  const name = nameOf(handler);
  const opening = opens(rules, todo[0]?.id ?? "");
  const expected = rules.inMemory && opening.length > 0 && !rules.without("no expected head");
  if (v !== state.instance.v || (expected && h0 !== state.head.length)) {
    const again: Handler = { ...handler, phase: "look" };
    const steps: Step<State>[] = [
      [`${trigger} conflicts, looks again`, replaced(state, handler, again)],
    ];
    const next = replaced(state, handler, onward(handler));
    if (trigger.startsWith("call:")) return [...steps, [`${trigger} leaves ${name} alone`, next]];
    const isPage = trigger.startsWith("bus:") || trigger.startsWith("page:");
    const mayPark = !rules.inMemory || rules.without("parked in memory");
    if (!isPage || !mayPark) return steps;
    const mark = rules.inMemory ? "[parked in memory] " : "";
    return [
      ...steps,
      [`${trigger} conflicts, ${mark}parks ${name}`, { ...next, queue: union(next.queue, [name]) }],
    ];
  }
  const rows = opened(rules, handler);
  const instance = ended(rules, state.instance, handler);
  const next: Handler = afterCommit(rules, instance, handler);
  const committed = {
    ...replaced(stored(state, instance), handler, next),
    got: name === "start" ? state.got : union(state.got, [name]),
    wrong: problemOf(state, name, todo[0]?.id ?? ""),
  };
  const label = `${trigger} commits ${name}`;
  const both = { ...committed, rows: [...state.rows, ...rows] };
  if (rules.without("row before the instance")) return [[label, committed]];
  if (rules.without("instance before the row") && rows.length > 0) {
    // As if each opening's row were one more thing to send.
    const put = rows.map((row) => `row:${row.id}:${row.r}:${row.after}`);
    const owing = { ...next, owed: [...put, ...next.owed] };
    return [[`${label} [instance before the row]`, replaced(committed, next, owing)]];
  }
  if (rules.split !== true || rows.length === 0) return [[label, both]];
  const waiting: Handler = { ...next, phase: "applying" };
  const halves = [
    { ...committed, applying: { rows } },
    { ...both, instance: state.instance, past: state.past, applying: { instance } },
  ];
  return halves.map((half, i) => [
    `${label}, at first only the ${i === 0 ? "instance" : "row"}`,
    replaced(half, next, waiting),
  ]);
}

/** What must never be committed, judged by what really happened. */
function problemOf({ instance, head, got }: State, name: string, id: string): string | null {
  const wait = instance.waits.find((each) => each.id === id);
  if (wait === undefined) return null;
  const b = broadcastOf(name);
  if (head.indexOf(b) + 1 <= wait.h0) return `${id} gets ${b}, counted before its first head read`;
  if (wait.not.includes(b)) return `${id} gets ${b}, thrown on its own path`;
  const before = wait.many ? [name] : got.filter((each) => each.startsWith(`${id}@`));
  return got.some((each) => before.includes(each)) ? `${id} is consumed twice` : null;
}

function ended(rules: Rules, image: Image, handler: Handler): Image {
  const name = nameOf(handler);
  const id = handler.todo[0]?.id ?? "";
  const own = handler.trigger.startsWith("call:") ? null : "page";
  const { throws } = rules.script[id] ?? {};
  const waits = opens(rules, id).map(
    ({ id, many = false, not = [] }): Wait => ({
      id,
      by: name,
      own,
      h0: handler.h0,
      many,
      not,
      taken: [],
    }),
  );
  const stays = image.waits.flatMap((wait): Wait[] => {
    if (wait.id !== id) return [wait];
    return wait.many ? [{ ...wait, taken: union(wait.taken, [broadcastOf(name)]) }] : [];
  });
  return {
    v: image.v + 1,
    start: image.start && id !== "start",
    waits: [...stays, ...waits],
    tasks: waits.length > 0 ? image.tasks : [...image.tasks, { id: `k:${name}`, by: name, own }],
    outbox: throws === undefined ? image.outbox : [{ id: throws, by: name, own }],
  };
}

function afterCommit(rules: Rules, instance: Image, handler: Handler): Handler {
  const isCall = handler.trigger.startsWith("call:");
  const dead = !instance.waits.some(({ id }) => id === handler.todo[0]?.id);
  const tidies = dead && handler.trigger !== "start";
  if (isCall) {
    return rules.without("small call tidies") && tidies
      ? { ...handler, phase: "tidy", owed: [] }
      : onward(handler);
  }
  const next = redelivered(rules, instance, handler, tidies);
  const skipped = rules.without("no second head read") ? ["seek:", "check:"] : ["seek:"];
  const owed = next.owed.filter((each) => !skipped.some((verb) => each.startsWith(verb)));
  const early = rules.without("row removed early") && tidies;
  return { ...next, owed, phase: early ? "tidy" : "send" };
}

function send(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, tidies, owed } = handler;
  const [first, ...rest] = owed;
  if (first === undefined) {
    const phase = trigger.startsWith("call:") ? "scan" : "tidy";
    const next: Handler = phase === "scan" || tidies ? { ...handler, phase } : onward(handler);
    return moves(rules, replaced(state, handler, next), next);
  }
  const went =
    rest.length === 0 && trigger.startsWith("call:") && rules.small !== true
      ? withoutHandler(state, handler)
      : replaced(state, handler, { ...handler, owed: rest });
  const label = `${trigger} sends ${first}`;
  const [verb = "", id = ""] = first.split(":");
  switch (verb) {
    case "count":
      return [[label, { ...went, head: appended(state.head, id) }]];
    case "put":
      return [[label, { ...went, put: union(state.put, [id]) }]];
    case "publish":
      return [[label, published(rules, went, id)]];
    case "drop": {
      if (state.applying !== null) return [];
      const outbox = state.instance.outbox.filter((entry) => entry.id !== id);
      return [[label, stored(went, { ...state.instance, outbox })]];
    }
    case "row": {
      const [, , r, after] = first.split(":").map(Number);
      const row = { id, r: r ?? 0, after: after ?? 0 };
      return [[label, { ...went, rows: [...state.rows, row] }]];
    }
    case "seek": {
      const isOpen = state.instance.waits.some((wait) => wait.id === id);
      const isSeen = state.rows.some((row) => row.id === id);
      return isOpen && !isSeen ? [] : [[`${trigger} looks for the row of ${id}`, went]];
    }
    case "check":
      return check(rules, state, handler);
    case "missed":
      return parkMissed(rules, state, handler);
    case "k":
      return [[label, { ...went, sent: union(state.sent, [first]) }]];
    default:
      return [[label, { ...went, queue: union(state.queue, [first]) }]];
  }
}

/** The second read of the head: what was counted after the first one may have been missed. */
function check(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const { trigger, owed } = handler;
  const [, id = "", h0] = owed[0]?.split(":") ?? [];
  const stale = rules.without("stale second head read");
  const heads = stale ? [state.head, state.head.slice(0, -1)] : [state.head];
  const not = rules.without("notIds ignored") ? [] : (openingOf(rules, id)?.not ?? []);
  return heads.map((head): Step<State> => {
    const missed = head.slice(Number(h0)).filter((b) => !not.includes(b));
    const found = missed.length === 0 ? [] : [`missed:${id}:${missed.join(" ")}`];
    const next = { ...handler, owed: [...found, ...owed.slice(1)] };
    const mark = stale ? "[stale second head read] " : "";
    return [
      `${trigger} ${mark}reads head ${head.length} again for ${id}`,
      replaced(state, handler, next),
    ];
  });
}

/** One that is not put yet is not published either: its pages will find the row. */
function parkMissed(rules: Rules, state: State, handler: Handler): Step<State>[] {
  const [, id = "", missed = ""] = handler.owed[0]?.split(":") ?? [];
  const there = missed.split(" ").filter((b) => state.put.includes(b));
  const taken = openingOf(rules, id)?.many === true ? there : there.slice(0, 1);
  const owed = [...taken.map((b) => `${id}@${b}`), ...handler.owed.slice(1)];
  const label = `${handler.trigger} finds ${taken.join(" ") || "nothing"} for ${id}`;
  return [[label, replaced(state, handler, { ...handler, owed })]];
}

function openingOf({ script }: Rules, id: string): Opening | undefined {
  return Object.values(script)
    .flatMap(({ opens }) => opens)
    .find((opening) => opening.id === id);
}

function published(rules: Rules, state: State, b: string): State {
  const early = rules.without("looked at until published");
  const fannedOut = early ? union(state.fannedOut, [b]) : state.fannedOut;
  // The bus swallows nothing: what is published twice comes twice.
  const queue = [...state.queue, onBus(b)].toSorted();
  return { ...state, queue, fannedOut, published: union(state.published, [b]) };
}

function opens(rules: Rules, id: string): readonly Opening[] {
  return rules.script[id]?.opens ?? [];
}

function opened(rules: Rules, { todo, v, h0 }: Handler): Row[] {
  const after = rules.without("no afterSeq") ? 0 : h0;
  return opens(rules, todo[0]?.id ?? "").map(({ id }) => ({ id, r: v + 1, after }));
}

/** The next row of the page, or the end. */
function onward(handler: Handler): Handler {
  const todo = handler.todo.slice(1);
  const phase = todo.length > 0 ? "look" : "finish";
  return { ...handler, phase, todo, v: 0, h0: 0, owed: [], tidies: false };
}

function nameOf({ trigger, todo: [row] }: Handler): string {
  return trigger === "start" ? "start" : `${row?.id}@${broadcastOf(trigger)}`;
}

function pageOf(trigger: string, rows: readonly Row[]): string {
  const keys = rows.map(({ id, r, after }) => [id, r, after].join("."));
  return `page:${broadcastOf(trigger)}:${keys.join(" ")}`;
}

function ids(rows: readonly Row[]): string {
  return rows.map(({ id }) => id).join(" ") || "nobody";
}

function appended(list: readonly string[], one: string): readonly string[] {
  return list.includes(one) ? list : [...list, one];
}
