// What the small world of signals is made of; signal.ts says what happens in it.

/** Each leaves one rule out: the search must find what goes wrong without it. */
export const MUTANTS = [
  "no fence",
  "row before the instance",
  "instance before the row",
  "eventual read of the instance",
  "no afterSeq",
  "no second head read",
  "stale second head read",
  "row removed early",
  "row removed by another broadcast",
  "row kept for small calls only",
  "redelivery does not look for the row",
  "small call tidies",
  "small call before the bus",
  "notIds ignored",
  "highest number for all",
  "no expected head",
  "parked in memory",
  "looked at until published",
] as const;

export type Mutant = (typeof MUTANTS)[number];

export type Opening = Readonly<{ id: string; many?: true; not?: readonly string[] }>;

/** What opens when the start or a wait ends; without an entry a task does. */
export type Script = Readonly<
  Record<string, Readonly<{ opens: readonly Opening[]; throws?: string }>>
>;

export const ONE: Script = { start: { opens: [{ id: "w1" }] } };
export const LOOP: Script = { ...ONE, w1: { opens: [{ id: "w2" }] } };
export const STAYS: Script = { start: { opens: [{ id: "w1", many: true }] } };
/** Throws b1, then waits for it on the same path (w1) and on a parallel one (w2). */
export const THROWER: Script = {
  start: { opens: [{ id: "w1", not: ["b1"] }, { id: "w2" }], throws: "b1" },
};

export type Bounds = Readonly<{
  script: Script;
  calls: readonly string[];
  small?: boolean;
  /** The message from the bus does its page itself, instead of sending one that names the rows. */
  inPlace?: boolean;
  queues?: "durable" | "memory";
  /** Split: the instance and the row of one transaction become visible one after the other. */
  split?: boolean;
  handlers: number;
  crashes?: number;
  /** Deliveries of a message with a running handler. */
  duplicates?: number;
  interrupts?: number;
}>;

export type Entry = Readonly<{ id: string; by: string; own: "page" | null }>;
export type Wait = Entry &
  Readonly<{ h0: number; many: boolean; not: readonly string[]; taken: readonly string[] }>;
export type Row = Readonly<{ id: string; r: number; after: number }>;
export type Image = Readonly<{
  v: number;
  start: boolean;
  waits: readonly Wait[];
  tasks: readonly Entry[];
  outbox: readonly Entry[];
}>;

export type Handler = Readonly<{
  trigger: string;
  phase: "scan" | "look" | "head" | "commit" | "put rows" | "applying" | "send" | "tidy" | "finish";
  todo: readonly Row[];
  /** The version that it read, and what the head counted then. */
  v: number;
  h0: number;
  owed: readonly string[];
  tidies: boolean;
}>;

export type State = Readonly<{
  instance: Image;
  /** The image before, for reads that may be stale. */
  past: Image | null;
  /** The half of a transaction that is not visible yet. */
  applying: Readonly<{ instance?: Image; rows?: readonly Row[] }> | null;
  rows: readonly Row[];
  head: readonly string[];
  put: readonly string[];
  published: readonly string[];
  fannedOut: readonly string[];
  queue: readonly string[];
  sent: readonly string[];
  unanswered: readonly string[];
  interrupted: readonly string[];
  got: readonly string[];
  handlers: readonly Handler[];
  crashes: number;
  duplicates: number;
  interrupts: number;
  wrong: string | null;
}>;

export type Rules = Bounds & Readonly<{ inMemory: boolean; without: (rule: Mutant) => boolean }>;

/** The next version of the instance. */
export function stored(state: State, instance: Image): State {
  const v = state.instance.v + 1;
  const past = state.past === null ? null : { ...state.instance };
  return { ...state, instance: { ...instance, v }, past };
}

/** What it takes to accept a broadcast. */
export function accepting(b: string): string[] {
  return [`count:${b}`, `put:${b}`, `publish:${b}`];
}

/** The broadcast in any name. */
export function broadcastOf(name: string): string {
  return name.split(/[:@]/)[1] ?? "";
}

/** The rows that a page names. */
export function rowsOf(page: string): Row[] {
  const keys = page.split(":")[2]?.split(" ") ?? [];
  return keys.map((key) => {
    const [id = "", r, after] = key.split(".");
    return { id, r: Number(r), after: Number(after) };
  });
}

/** The message of a published broadcast. */
export function onBus(b: string): string {
  return `bus:${b}`;
}

/** Sorted, and nothing added twice: equal sets look equal. */
export function union(set: readonly string[], more: readonly string[]): readonly string[] {
  return [...set, ...more.filter((each) => !set.includes(each))].toSorted();
}

/** One handler more. */
export function withHandler(state: State, handler: Handler): State {
  const handlers = [...state.handlers, handler];
  return { ...state, handlers: handlers.toSorted(inOrder) };
}

/** Any order will do, so that equal states look equal. */
function inOrder(a: Handler, b: Handler): number {
  if (a.trigger !== b.trigger) return a.trigger < b.trigger ? -1 : 1;
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** One handler less. */
export function withoutHandler(state: State, gone: Handler): State {
  const at = state.handlers.indexOf(gone);
  return { ...state, handlers: state.handlers.toSpliced(at, 1) };
}

/** One handler in another phase. */
export function replaced(state: State, handler: Handler, next: Handler): State {
  return withHandler(withoutHandler(state, handler), next);
}
