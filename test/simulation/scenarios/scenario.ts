// What a simulated world is asked to do: definitions, user code, and people who call.
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { Variables } from "../../../lib/definition/json.ts";
import type { Engine } from "../../../lib/engine/engine.ts";
import type { World } from "../../../lib/engine/world.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { TaskAttempt, TaskOutcome } from "../../../lib/ports/tasks.ts";
import type { Workflow } from "../../support/generator-runner.ts";
import type { Trouble } from "../actors/swarm.ts";
import type { Sent, Targeted } from "../checks/traffic.ts";

export type Scenario = Readonly<{
  name: string;
  definitions: readonly Compiled[];
  /** Programs that definitions of notation "code" name. */
  workflows?: ReadonlyMap<string, Workflow>;
  /** Task types that the engine runs; others are offered to outsiders. */
  handlers: Readonly<Record<string, Handler>>;
  /** New ones for each run: they remember what they were told. */
  callers: () => readonly Caller[];
  /** Somebody listens to announcements. */
  announces?: true;
  /** Parking drops a message while an equal one is there. */
  swallowsDoubles?: true;
  /** The final variables do not depend on the order of things, nor on luck. */
  confluent?: true;
  /** What this one has to live with, instead of whatever is drawn. */
  troubles?: readonly Trouble[];
  /** Instances may end by standing still at an incident that nobody resolves. */
  mayStandStill?: true;
  /** Instances may still wait at the end, for people who have not completed a task. */
  leavesTasks?: true;
  /** How often each of these people asks for a task. */
  maxClaims?: Readonly<Record<string, number>>;
  /** Instances may still wait at the end, for what nobody has sent. */
  mayWait?: true;
  /** Timers that are far wait in the index, not in a scheduler. */
  timers?: "wheel";
  /** No schedule ever fires: only the sweep knows. */
  losesSchedules?: true;
  /** Waits whose very end owes something: their rows may stay until every fan-out is over. */
  endsOwe?: true;
  /** Nothing but timers: how late they may be is bounded. */
  punctual?: true;
  /** A cycle whose due instants stand exactly this far apart. */
  cycle?: Readonly<{ element: string; everyMs: number }>;
  /** A task that was delivered this often goes to those who give up on it. */
  maxReceives?: number;
  /** What is no task, and came more often than that, is set aside; so is a task that came still more often. */
  setsAside?: true;
  /** When values leave their instance, and when they are blobs. */
  settings?: Pick<World["settings"], "wholeBytes" | "blobBytes" | "membersPerPage">;
  /** How many hosts there are where queues last; three unless said. */
  hosts?: number;
  /** One of the hosts runs the code of the format before. */
  hasOlderHost?: true;
  /** Versions that are deployed while everything runs, by callers. */
  later?: readonly Compiled[];
  /** When the store is restored: everything that queues and schedules held is gone then. */
  restoredAtMs?: number;
  /** Tasks may go to a queue of the user's own, which callers consume; none with queues in memory. */
  ownQueue?: true;
  /** Time passes only when nothing else can happen: what is done at once has the same instant. */
  isTimeless?: true;
  /** With queues in memory no attempt of a task is run twice in one life of the process. */
  runsOnceInLife?: true;
  /** Handlers come and go: which types hosts run from when on. The first holds from the beginning. */
  releases?: readonly Release[];
}>;

/** From this ms of the run on these hosts are others, all of them unless said. */
export type Release = Readonly<{
  atMs: number;
  runs: readonly string[];
  hosts?: readonly number[];
}>;

export type Restored = "not yet" | "lost" | "recovered";

/** User code: how long it takes, and what comes of it. */
export type Handler = Readonly<{
  takesMs?: number;
  isolate?: true;
  exclusive?: true;
  outcome: (about: TaskAttempt, input: Variables) => TaskOutcome | Promise<TaskOutcome>;
}>;

/** Somebody outside, who makes calls one after the other and repeats what got no answer. */
export type Caller = Readonly<{ name: string; calls: readonly Call[] }>;

export type Call = Readonly<{
  name: string;
  /** Not before this many ms of the run. */
  atMs?: number;
  /** Makes the call; "again later" when what it needs is not there yet. */
  make: (at: Desk) => Promise<Answer | "again later">;
  /** Says what is wrong with the answer. */
  judge?: (answer: Answer) => string | undefined;
}>;

/** What a caller has at hand. */
export type Desk = Readonly<{
  engine: Engine;
  /** Every fact that a call may bring is told here, before the call. */
  brings: (instanceId: string | undefined, fact: Fact) => void;
  /** Of a refusal that is certain: the instance never begins, or its ticket is never consumed. */
  never: (instanceId: string, ticket?: string) => void;
  /** How long the history of an instance must at least be, if it is read from now on. */
  committedEntries: (instanceId: string) => number;
  /** Notes a message, or an event for one instance, before it is sent. */
  sends: (message: Sent) => void;
  sendsTo: (event: Targeted) => void;
  /** Whether everything was lost, and to be told that it is recovered. */
  restore: Readonly<{ state: () => Restored; over: () => void }>;
  /** The queue of the user's own: what may be received now, and the end of a message. */
  ownQueue: Readonly<{
    ready: () => readonly Readonly<{ id: number; text: string }>[];
    release: (id: number) => void;
  }>;
  /** How many waits for this are open. */
  waiting: (on: "signal" | "message" | "event", name: string) => number;
}>;

export type Answer = Readonly<
  | { kind: "started"; instanceId: string }
  | { kind: "done"; note?: string }
  | { kind: "refused"; code: string }
>;
