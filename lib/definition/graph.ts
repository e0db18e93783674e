/**
 * The flow graph that BPMN and journeys compile to, as plain JSON: it is stored with a definition
 * version and never changes. Nodes are nested by `scope`; node 0 is the process itself.
 *
 * A new kind of element is a new case of `Behaviour` or of `BoundaryTrigger`; the runner's
 * exhaustive switches then name every place that must learn it.
 */
import type { Computed } from "./expression.ts";
import type { Json } from "./json.ts";
import type { UserTaskSpec } from "./user-task.ts";

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
    /** Of a multi-instance activity. */
    loop?: Loop;
  } & Behaviour
>;

/** Multi-instance: one run of an activity for each entry of a list, called an item. */
export type Loop = Readonly<{
  /** One item after the other; absent: all in parallel. */
  sequential?: true;
  collection: Computed;
  /** The variable that holds an item's entry of the list. */
  element?: string;
  /** What is collected, in the order of the list, and where it goes when all items have completed. */
  output?: Readonly<{
    collection: string;
    element: Computed;
    /** A variable of the item that is null until it is set, so that it stays local to the item. */
    preset?: string;
  }>;
  /** The completion condition, evaluated when an item completes: true ends the others. */
  until?: Computed;
}>;

/** `target` is a dotted path of identifiers. */
export type Mapping = Readonly<{ source: Computed; target: string }>;

export type Behaviour =
  /** `forms`: embedded forms of the source, by their ids; tasks refer to them. */
  | Readonly<{ kind: "process"; forms?: Readonly<Record<string, Json>> }>
  /** A triggered one starts only on its signal, message or timer; see `StartEvent`. */
  | Readonly<{ kind: "start"; triggered?: true }>
  | Readonly<{ kind: "end"; end: EndKind }>
  | Readonly<{
      kind: "task";
      type: Computed;
      retries: Computed;
      headers?: Readonly<Record<string, string>>;
      /** ISO duration between attempts, where the model says one. */
      backoff?: string;
      /** Of a user task. */
      person?: UserTaskSpec;
    }>
  | Readonly<{ kind: "script"; expression: Computed; result: string }>
  /** Waits for one trigger: intermediate catch events and receive tasks. */
  | Readonly<{ kind: "catch"; awaits: Awaited }>
  /** Broadcasts a signal, with the element's local variables as its payload, and continues at once. */
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
  /** Which version runs; the latest by default. */
  binding?: Binding;
  /** Everything that is visible from the call is handed over, not only what is local to it. */
  passesAll: boolean;
  /** Without output mappings: everything that the child ends with is taken over. */
  takesAll: boolean;
  /** Only started: the caller does not wait for its end. */
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
