// Drives one instance through `decide` as an engine would, without a store.
import { feelExpressions } from "../../lib/adapters/feelin/feel-expressions.ts";
import type { Definition } from "../../lib/definition/definition.ts";
import type { Expressions } from "../../lib/definition/expression.ts";
import type { Json, Variables } from "../../lib/definition/json.ts";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import { itemName } from "../../lib/kernel/batch.ts";
import { type Decision, decide } from "../../lib/kernel/decide.ts";
import type { Given } from "../../lib/kernel/draft.ts";
import type { Fact, StartInput, TaskFailed } from "../../lib/kernel/fact.ts";
import { graphRunner } from "../../lib/kernel/graph/graph-runner.ts";
import type {
  BatchTicket,
  EventTicket,
  IncidentTicket,
  Instance,
  MessageTicket,
  Parent,
  SignalTicket,
  TaskTicket,
  Ticket,
  TimerTicket,
} from "../../lib/kernel/instance.ts";
import type { QueuedEvent } from "../../lib/kernel/queued-event.ts";
import type { Program, TokenCount } from "../../lib/kernel/runner.ts";

/** 2024-01-01T00:00:00Z, when every play begins. */
export const BEGIN: Instant = instantFrom(1_704_067_200_000);

const FEEL = feelExpressions();

/** A graph with its runner. */
export function aProgram(definition: Definition): Program {
  return { definition, runner: graphRunner(definition) };
}

/** An instance before its first fact. */
export function aNew({ definition }: Pick<Program, "definition">): Instance {
  const { id, version, hash } = definition;
  return frozen({
    id: "i1",
    tenant: "default",
    version: 0,
    definition: { id, version, hash },
    status: "live",
    startedAt: BEGIN,
    lastNow: BEGIN,
    state: null,
    tickets: [],
    outbox: [],
    minted: 0,
    completed: [],
    trail: { next: 1, entries: [] },
    startHash: "",
    ring: [],
    inbox: [],
    sentEvents: [],
    seenEvents: {},
  });
}

export function givenAt(now: number, expressions: Expressions = FEEL): Given {
  return { now: instantFrom(now), seed: "seed", expressions };
}

/** What a store would return: the next version, nothing left to dispatch, and frozen. */
export function committed(instance: Instance): Instance {
  return frozen({ ...instance, version: instance.version + 1, minted: 0, outbox: [] });
}

/** Deep freeze, so that a decision that changes its input fails at once. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
  }
  return value;
}

type Options = Readonly<{
  variables?: Variables;
  /** Any JSON, for a workflow in code. */
  input?: Json;
  /** A workflow in code is started without an input. */
  isBare?: true;
  /** What else the new instance is. */
  as?: Partial<Instance>;
  deadline?: number;
  trigger?: NonNullable<StartInput["trigger"]>;
  expressions?: Expressions;
  /** Waits of other instances, as `"name/key"`. */
  taken?: readonly string[];
  /** The call that started it. */
  parent?: Parent;
  /** Nothing that is owed is sent for now: the outbox keeps its records across commits. */
  holdsBack?: true;
}>;

/** An event that is sent to an instance: unread it expires after an hour, then it is discarded. */
export function anEvent(name: string, how: Partial<QueuedEvent> = {}): QueuedEvent {
  const at = how.at ?? BEGIN;
  return {
    id: `${name}-1`,
    name,
    payload: null,
    at,
    expiresAt: instantFrom(at + 3_600_000),
    onTargetTerminated: "discard",
    ...how,
  };
}

/** Starts an instance of a graph or of any program, at `BEGIN`. */
export async function play(of: Definition | Program, options: Options = {}): Promise<Play> {
  const program = "runner" in of ? of : aProgram(of);
  const played = new Play(program, options.expressions ?? FEEL);
  const { variables = {}, deadline, trigger, taken = [], holdsBack = false } = options;
  played.holdsBack = holdsBack;
  played.instance = frozen({ ...played.instance, ...options.as });
  if (options.parent) played.instance = frozen({ ...played.instance, parent: options.parent });
  for (const pair of taken) played.taken.add(pair);
  const input = {
    variables,
    ...(options.input !== undefined && { input: options.input }),
    ...(options.isBare && { isBare: options.isBare }),
    ...(deadline !== undefined && { deadline: instantFrom(deadline) }),
    ...(trigger && { trigger }),
  };
  await played.deliver({ kind: "started", input: frozen(input) });
  return played;
}

/** An instance being played: it holds the clock and the newest image. */
export class Play {
  now: number = BEGIN;
  instance: Instance;
  holdsBack = false;
  readonly taken = new Set<string>();
  readonly program: Program;
  readonly #expressions: Expressions;

  constructor(program: Program, expressions: Expressions) {
    this.program = program;
    this.#expressions = expressions;
    this.instance = aNew(program);
  }

  /** Decides and commits; returns the decision. */
  async deliver(fact: Fact): Promise<Decision> {
    const decision = await this.decide(fact);
    const { outbox } = decision.instance;
    const next = committed(decision.instance);
    if (decision.changed) this.instance = this.holdsBack ? frozen({ ...next, outbox }) : next;
    return decision;
  }

  /** Decides and leaves everything unchanged. */
  decide(fact: Fact): Promise<Decision> {
    const isTaken = (name: string, key: string) => this.taken.has(`${name}/${key}`);
    const given = {
      ...givenAt(this.now, this.#expressions),
      ...(this.taken.size > 0 && { isTaken }),
    };
    return decide(this.program, this.instance, frozen(fact), given);
  }

  complete(element: string, variables: Variables = {}): Promise<Decision> {
    const { id } = this.task(element);
    return this.deliver({ kind: "task-completed", ticket: id, variables });
  }

  fail(element: string, how: Partial<Omit<TaskFailed, "kind" | "ticket">> = {}): Promise<Decision> {
    const { id, attempt } = this.task(element);
    const message = "it broke";
    return this.deliver({ kind: "task-failed", ticket: id, attempt, message, ...how });
  }

  /** Completes an item of the open batch of this element, counted from 0. */
  completeMember(element: string, member: number, variables: Variables = {}): Promise<Decision> {
    const ticket = itemName(this.family(element).id, member);
    return this.deliver({ kind: "task-completed", ticket, variables });
  }

  /** Fails an item of a batch; permanently unless attempts are left. */
  failMember(
    element: string,
    member: number,
    how: Partial<Omit<TaskFailed, "kind" | "ticket">> = {},
  ): Promise<Decision> {
    const ticket = itemName(this.family(element).id, member);
    const failed = { attempt: 3, message: "it broke", retries: 0, ...how };
    return this.deliver({ kind: "task-failed", ticket, ...failed });
  }

  /** Lets time pass until the timer of this element is due, or `lateMs` longer, and fires it. */
  fire(element: string, lateMs = 0): Promise<Decision> {
    const { id, dueAt } = this.timer(element);
    this.now = Math.max(this.now, dueAt + lateMs);
    return this.deliver({ kind: "timer-due", ticket: id });
  }

  /** Broadcasts to the wait of this element alone, as the n-th signal of its name. */
  signal(
    element: string,
    how: Readonly<{ seq?: number; broadcastId?: string; payload?: Variables }> = {},
  ): Promise<Decision> {
    const { id } = this.waitForSignal(element);
    const { seq = 1, broadcastId = `b${seq}`, payload = {} } = how;
    return this.deliver({ kind: "signal-received", ticket: id, broadcastId, seq, payload });
  }

  message(element: string, payload: Variables = {}, messageId = "m1"): Promise<Decision> {
    const { id } = this.waitForMessage(element);
    return this.deliver({ kind: "message-received", ticket: id, messageId, payload });
  }

  send(event: QueuedEvent): Promise<Decision> {
    return this.deliver({ kind: "event-sent", event });
  }

  /** A broadcast event, or with `seq: undefined` one from the inbox. */
  event(
    element: string,
    how: Readonly<{ eventId: string; seq: number | undefined; payload?: Json }>,
  ): Promise<Decision> {
    const { id } = this.waitForEvent(element);
    const { eventId, seq, payload = null } = how;
    const place = seq === undefined ? {} : { seq };
    return this.deliver({ kind: "event-received", ticket: id, eventId, payload, ...place });
  }

  resolve(
    element: string,
    how: Readonly<{ variables?: Variables; retries?: number }> = {},
  ): Promise<Decision> {
    const { id } = this.incident(element);
    return this.deliver({ kind: "incident-resolved", ticket: id, ...how });
  }

  cancel(reason?: string): Promise<Decision> {
    return this.deliver({ kind: "cancel-requested", ...(reason && { reason }) });
  }

  /** Delivers continuations for as long as there are any. */
  async goOn(): Promise<number> {
    for (let rounds = 0; ; rounds += 1) {
      const ticket = this.instance.tickets.find(({ on }) => on === "continuation");
      if (ticket === undefined) return rounds;
      await this.deliver({ kind: "continued", ticket: ticket.id });
    }
  }

  task(element: string): TaskTicket {
    return this.#one(element, (ticket): ticket is TaskTicket => ticket.on === "task");
  }

  family(element: string): BatchTicket {
    return this.#one(element, (ticket): ticket is BatchTicket => ticket.on === "family");
  }

  timer(element: string): TimerTicket {
    return this.#one(element, (ticket): ticket is TimerTicket => ticket.on === "timer");
  }

  waitForSignal(element: string): SignalTicket {
    return this.#one(element, (ticket): ticket is SignalTicket => ticket.on === "signal");
  }

  waitForMessage(element: string): MessageTicket {
    return this.#one(element, (ticket): ticket is MessageTicket => ticket.on === "message");
  }

  waitForEvent(element: string): EventTicket {
    return this.#one(element, (ticket): ticket is EventTicket => ticket.on === "event");
  }

  incident(element: string): IncidentTicket {
    return this.#one(element, (ticket): ticket is IncidentTicket => ticket.on === "incident");
  }

  /** What is open, in order: `"task charge"`, `"timer remind"`, `"incident ship"`. */
  get open(): readonly string[] {
    return this.instance.tickets.map(({ on, element }) => `${on} ${element}`);
  }

  get status(): string {
    const { status, terminationKind } = this.instance;
    return terminationKind === undefined ? status : `${status} ${terminationKind}`;
  }

  get variables(): Variables {
    return this.program.runner.view(this.instance).variables;
  }

  get active(): readonly string[] {
    return this.tokens.map(({ element }) => element);
  }

  /** How often each element is open. */
  get tokens(): readonly TokenCount[] {
    return this.program.runner.view(this.instance).tokens;
  }

  /** The input of the open task of this element. */
  input(element: string): Variables {
    return this.program.runner.taskInput(this.instance, this.task(element)).variables;
  }

  /** History as lines such as `"element-entered charge"`. */
  get trail(): readonly string[] {
    return this.instance.trail.entries.map(({ type, element }) =>
      element === undefined ? type : `${type} ${element}`,
    );
  }

  #one<T extends Ticket>(element: string, isOne: (ticket: Ticket) => ticket is T): T {
    const found = this.instance.tickets.filter(isOne).find((ticket) => ticket.element === element);
    if (found === undefined) {
      throw new Error(`"${element}" has none of those open: ${this.open.join(", ") || "nothing"}`);
    }
    return found;
  }
}
