/**
 * The flow graph that BPMN and journeys compile to, as plain JSON: it is stored with a definition
 * version and never changes. Nodes are nested by `scope`; node 0 is the process itself.
 *
 * A new kind of element is a new case of `Behaviour` or of `BoundaryTrigger`; the runner's
 * exhaustive switches then name every place that must learn it.
 */
import type { Computed } from "./expression.ts";
import type { Json } from "./json.ts";
import type { PersonSpec } from "./user-task.ts";

export type Graph = Readonly<{ nodes: readonly Node[]; flows: readonly Flow[] }>;

/** One arrow. The order of flows is the order of the source, and exclusive gateways rely on it. */
export type Flow = Readonly<{ id: string; from: string; to: string; condition?: Computed }>;

export type Node = Readonly<
  {
    id: string;
    name?: string;
    /** The scope that holds this node; absent for the process itself. */
    scope?: string;
    /** Evaluated on entry, in order, into variables local to the element. */
    inputs?: readonly Mapping[];
    /** Evaluated on completion, in order, from the element's variables into its surroundings. */
    outputs?: readonly Mapping[];
    /** Of an activity that is done once for each entry of a list. */
    loop?: Loop;
  } & Behaviour
>;

/** One occurrence of an activity for each entry of a list: a member of the loop. */
export type Loop = Readonly<{
  /** One member after the other; absent: all at once. */
  sequential?: true;
  collection: Computed;
  /** The variable that a member finds its entry in. */
  element?: string;
  /** What is gathered, in the order of the list, and where it goes when all are done. */
  output?: Readonly<{
    collection: string;
    element: Computed;
    /** A variable of the member that is null until somebody sets it, so that it stays the member's. */
    preset?: string;
  }>;
  /** Asked when a member is done: true ends the others. */
  until?: Computed;
}>;

/** `target` is a dotted path of identifiers. */
export type Mapping = Readonly<{ source: Computed; target: string }>;

export type Behaviour =
  /** `forms`: those that stand in the source, by their ids; tasks refer to them. */
  | Readonly<{ kind: "process"; forms?: Readonly<Record<string, Json>> }>
  /** One that is triggered begins only when its signal, message or time comes; see `StartEvent`. */
  | Readonly<{ kind: "start"; triggered?: true }>
  | Readonly<{ kind: "end"; end: EndKind }>
  | Readonly<{
      kind: "task";
      type: Computed;
      retries: Computed;
      headers?: Readonly<Record<string, string>>;
      /** ISO duration between attempts, where the model says one. */
      backoff?: string;
      /** A person does it. */
      person?: PersonSpec;
    }>
  | Readonly<{ kind: "script"; expression: Computed; result: string }>
  /** Waits for one thing: intermediate catch events and receive tasks. */
  | Readonly<{ kind: "catch"; awaits: Awaited }>
  /** Broadcasts a signal, with the element's local variables as its payload, and goes on at once. */
  | Readonly<{ kind: "throw"; signal: Computed }>
  /** Waits for the first of the `catch` nodes that its flows lead to; the others are never entered. */
  | Readonly<{ kind: "event-gateway" }>
  | Readonly<{ kind: "exclusive"; otherwise?: string }>
  | Readonly<{ kind: "parallel" }>
  | Readonly<{ kind: "scope" }>
  /** Runs another process as an instance of its own, and waits for its end unless it is detached. */
  | Call
  /** Undefined and manual tasks, plain throw events: control goes straight through. */
  | Readonly<{ kind: "pass" }>
  | Readonly<{ kind: "boundary"; on: string; interrupting: boolean; trigger: BoundaryTrigger }>;

export type Call = Readonly<{
  kind: "call";
  process: Computed;
  /** Which version runs: the latest, unless something else is said. */
  binding?: Binding;
  /** Everything that is visible from the call is handed over, not only what is local to it. */
  passesAll: boolean;
  /** Without output mappings: everything that the child ends with is taken over. */
  takesAll: boolean;
  /** Only begun: its end is nobody's concern here. */
  detached?: true;
}>;

/** The version that was deployed together with the caller's, or the latest that bears a tag. */
export type Binding = "deployment" | Readonly<{ tag: string }>;

export type EndKind =
  | Readonly<{ as: "plain" }>
  | Readonly<{ as: "terminate" }>
  | Readonly<{ as: "signal"; signal: Computed }>
  | Readonly<{ as: "error"; code: Computed }>;

/** What a wait can be for. A message without a key goes to the mailbox of its name alone. */
export type Awaited =
  | Readonly<{ on: "timer"; timer: TimerSpec }>
  | Readonly<{ on: "signal"; signal: Computed }>
  | Readonly<{ on: "message"; message: Computed; key?: Computed }>;

/** An error trigger without a code catches every error. */
export type BoundaryTrigger = Awaited | Readonly<{ on: "error"; code?: string }>;

/** `zone` governs calendar arithmetic (days, months); UTC where it is absent. */
export type TimerSpec = Readonly<{
  as: "duration" | "date" | "cycle";
  value: Computed;
  zone?: string;
}>;
