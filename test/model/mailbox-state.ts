// What the small world of a mailbox is made of; mailbox.ts says what happens in it.

/** Each leaves one rule out: the search must find what goes wrong without it. */
export const MUTANTS = [
  "sub without condition on the mailbox",
  "append that ignores subs",
  "no fence",
  "eventual read of the instance",
  "no sweeper",
  "ids not remembered",
  "live sub replaced",
  "start without the mailbox",
] as const;

export type Mutant = (typeof MUTANTS)[number];

export type Bounds = Readonly<{
  /** Instances; those of one process id may not wait at the same time. */
  waiters: readonly Readonly<{ id: string; process: string; waits: number }>[];
  /** `pub:` or `call:` and the message's id, which is the whole message. */
  publications: readonly string[];
  /** A definition starts by such a message. */
  starts?: boolean;
  split?: boolean;
  handlers: number;
  crashes?: number;
  duplicates?: number;
  interrupts?: number;
  /** Steps of an instance that leave its wait as it is: the others find it contended. */
  steps?: number;
}>;

export type Rules = Bounds & Readonly<{ without: (rule: Mutant) => boolean }>;

export type Instance = Readonly<{
  id: string;
  v: number;
  wait: Readonly<{ id: string }> | null;
  /** Tickets with the name that owes them. */
  open: readonly Readonly<{ id: string; by: string }>[];
  got: readonly string[];
}>;

/** A wait as the mailbox stores it: its ticket, and the version that opens it. */
export type Sub = Readonly<{ id: string; r: number }>;
type Buf = Readonly<{ m: string; for: readonly string[] | null; taken: boolean }>;
/** Which instance took a message at once, and at which version. */
type Seen = Readonly<{ m: string; to: Sub | "start" | null }>;

export type Mail = Readonly<{
  v: number;
  subs: readonly Sub[];
  bufs: readonly Buf[];
  ids: readonly Seen[];
  lookAt: boolean;
}>;

export type Handler = Readonly<{
  trigger: string;
  phase: "look" | "mail" | "judge" | "commit" | "applying" | "send";
  /** Versions read: of the mailbox, and of the instance in question. */
  mv: number;
  v: number;
  /** The wait that is to be judged, and those that were read as closed. */
  suspect: Sub | null;
  /** Whether the mailbox has seen its message before: only what is owed is left to do. */
  isRepeated: boolean;
  dead: readonly string[];
  parked: boolean;
  owed: readonly string[];
}>;

export type State = Readonly<{
  mail: Mail;
  instances: readonly Instance[];
  /** The images before, for reads that may be stale. */
  past: readonly Instance[] | null;
  started: readonly string[];
  /** The half of a transaction that is not visible yet. */
  applying: Readonly<{ mail?: Mail; instance?: Instance }> | null;
  queue: readonly string[];
  sent: readonly string[];
  unanswered: readonly string[];
  handlers: readonly Handler[];
  crashes: number;
  duplicates: number;
  interrupts: number;
  steps: number;
  sweeps: number;
}>;

/** Without the closed waits, wherever they are named; messages that were not taken become free. */
export function cleaned(mail: Mail, dead: readonly string[]): Mail {
  const subs = mail.subs.filter(({ id }) => !dead.includes(id));
  const bufs = mail.bufs.flatMap((buf): Buf[] => {
    const left = buf.for?.filter((id) => !dead.includes(id)) ?? null;
    if (left === null || left.length > 0) return [{ ...buf, for: left }];
    return buf.taken ? [] : [{ ...buf, for: null }];
  });
  return { ...mail, subs, bufs };
}

/** The mailbox as its next version, due while it has both waits and messages. */
export function put(mail: Mail): Mail {
  return { ...mail, v: mail.v + 1, lookAt: mail.subs.length > 0 && mail.bufs.length > 0 };
}

/** The instance that a wait, or the trigger that opens it, belongs to. */
export function instanceOf(state: State, wait: string): Instance {
  const id = wait.replace(/^\w+:/, "").slice(0, 1);
  const found = state.instances.find((each) => each.id === id);
  if (found === undefined) throw new Error(`No instance has the wait ${wait}.`);
  return found;
}

/** Whether no wait follows this one in its instance. */
export function lastOf({ waiters }: Rules, wait: string): boolean {
  return waiters.some(({ id, waits }) => wait === `${id}${waits}`);
}

/** Another image of one instance. */
export function withInstance(state: State, changed: Instance): State {
  const instances = state.instances.map((each) => (each.id === changed.id ? changed : each));
  return { ...state, instances, past: state.past === null ? null : state.instances };
}

/** Sorted, and nothing added twice: equal sets look equal. */
export function union(set: readonly string[], more: readonly string[]): readonly string[] {
  return [...set, ...more.filter((each) => !set.includes(each))].toSorted();
}

/** One handler more. */
export function withHandler(state: State, handler: Handler): State {
  return { ...state, handlers: [...state.handlers, handler].toSorted(inOrder) };
}

/** Any order will do, so that equal states look equal. */
function inOrder(a: Handler, b: Handler): number {
  if (a.trigger !== b.trigger) return a.trigger < b.trigger ? -1 : 1;
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** One handler less. */
export function withoutHandler(state: State, gone: Handler): State {
  return { ...state, handlers: state.handlers.toSpliced(state.handlers.indexOf(gone), 1) };
}

/** One handler in another phase. */
export function replaced(state: State, handler: Handler, next: Handler): State {
  return withHandler(withoutHandler(state, handler), next);
}
