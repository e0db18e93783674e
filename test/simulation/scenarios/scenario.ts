// What a simulated world runs: definitions, user code, and callers.
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { Variables } from "../../../lib/definition/json.ts";
import type { Engine } from "../../../lib/engine/engine.ts";
import type { World } from "../../../lib/engine/world.ts";
import type { SessionRoom } from "../../../lib/kernel/code/sessions.ts";
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
  /** Bundles of definitions in code, by their id: they run in the sandbox. */
  bundles?: ReadonlyMap<string, () => string>;
  /** How many sessions of these a host keeps. */
  sessions?: SessionRoom;
  /** So many runs of a guest later its machine is gone, again and again. */
  losesMachines?: number;
  /** Other bundles, by id: a session that replays outcomes runs this code, which never ran before. */
  replayedBundles?: ReadonlyMap<string, () => string>;
  /** A decision pauses at each run of a guest, so that another one may come between. */
  pausesGuests?: true;
  /** Task types with a handler; others are offered to workers. */
  handlers: Readonly<Record<string, Handler>>;
  /** New ones for each run: they have state. */
  callers: () => readonly Caller[];
  /** Announcements have a listener. */
  announces?: true;
  /** Parking drops a message while it holds an equal one. */
  swallowsDoubles?: true;
  /** The final variables do not depend on the order of events, nor on chance. */
  confluent?: true;
  /** The faults of this scenario, instead of random ones. */
  troubles?: readonly Trouble[];
  /** Instances may end with an unresolved incident. */
  mayStandStill?: true;
  /** Instances may still wait at the end, for users who have not completed a task. */
  leavesTasks?: true;
  /** How often each of these users claims a task. */
  maxClaims?: Readonly<Record<string, number>>;
  /** Instances may still wait at the end, for what was not sent. */
  mayWait?: true;
  /** Distant timers wait in the index, not in a scheduler. */
  timers?: "wheel";
  /** No schedule ever fires: only the sweep finds them. */
  losesSchedules?: true;
  /** Waits whose end owes something: their rows may stay until every fan-out is over. */
  endsOwe?: true;
  /** Only timers: how late they may be is bounded. */
  punctual?: true;
  /** A cycle whose due instants are exactly this far apart. */
  cycle?: Readonly<{ element: string; everyMs: number }>;
  /** A task that was delivered this often is given up. */
  maxReceives?: number;
  /**
   * Other messages that were delivered more often are set aside; so is a task that was delivered
   * still more often.
   */
  setsAside?: true;
  /** When values are externalized, and when they are blobs. */
  settings?: Pick<World["settings"], "wholeBytes" | "blobBytes" | "membersPerPage">;
  /** The number of hosts with durable queues; three by default. */
  hosts?: number;
  /** One of the hosts runs the code of the previous format. */
  hasOlderHost?: true;
  /** Versions that callers deploy during the run. */
  later?: readonly Compiled[];
  /** When the store is restored: everything that queues and schedules held is lost then. */
  restoredAtMs?: number;
  /** Tasks may go to a user's own queue, which callers consume; none with queues in memory. */
  ownQueue?: true;
  /** Time passes only when nothing else can happen: immediate actions have the same instant. */
  isTimeless?: true;
  /** With queues in memory no attempt of a task is run twice in one process. */
  runsOnceInLife?: true;
  /** With queues in memory the process knows which of its invocations have ended. */
  knowsOwners?: true;
  /**
   * Handlers are added and removed: which types hosts have from when on. The first applies from the
   * beginning.
   */
  releases?: readonly Release[];
}>;

/** From this ms of the run on these hosts are replaced, all of them by default. */
export type Release = Readonly<{
  atMs: number;
  runs: readonly string[];
  hosts?: readonly number[];
  /** The engine that guests run on; the one that definitions are pinned to by default. */
  engine?: string;
}>;

export type Restored = "not yet" | "lost" | "recovered";

/** User code: how long it takes, and its outcome. */
export type Handler = Readonly<{
  takesMs?: number;
  isolate?: true;
  exclusive?: true;
  outcome: (
    about: TaskAttempt,
    input: Variables,
    desk: () => Desk,
  ) => TaskOutcome | Promise<TaskOutcome>;
}>;

/**
 * An outside caller, which makes calls one after the other and repeats those without a response.
 */
export type Caller = Readonly<{ name: string; calls: readonly Call[] }>;

export type Call = Readonly<{
  name: string;
  /** Not before this many ms of the run. */
  atMs?: number;
  /** Makes the call; "again later" when what it needs is not there yet. */
  make: (at: Desk) => Promise<Answer | "again later">;
  /** Returns what is wrong with the response. */
  judge?: (answer: Answer) => string | undefined;
}>;

/** The tools of a caller. */
export type Desk = Readonly<{
  engine: Engine;
  /** Every fact that a call may deliver is recorded here, before the call. */
  brings: (instanceId: string | undefined, fact: Fact) => void;
  /** Of a definite refusal: the instance never starts, or its ticket is never consumed. */
  never: (instanceId: string, ticket?: string) => void;
  /** How long the history of an instance must at least be, if it is read from now on. */
  committedEntries: (instanceId: string) => number;
  /** Records a message, or an event for one instance, before it is sent. */
  sends: (message: Sent) => void;
  sendsTo: (event: Targeted) => void;
  /** Whether everything was lost, and a way to report that it is recovered. */
  restore: Readonly<{ state: () => Restored; over: () => void }>;
  /** The user's own queue: what may be received now, and the deletion of a message. */
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
