// What all parts of a simulated world share: true time, the running actors, the remaining choices,
// and everything that has been observed so far.
import { SimulatedTime } from "../../../lib/adapters/simulated/clock.ts";
import type { SimulatedQueue } from "../../../lib/adapters/simulated/queue.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { TicketlessEffect, TimerTicket } from "../../../lib/kernel/instance.ts";
import type { Program } from "../../../lib/kernel/runner.ts";
import { EngineError } from "../../../lib/ports/engine-error.ts";
import type { Message } from "../../../lib/ports/message.ts";
import type { Key } from "../../../lib/ports/store.ts";
import { type Actor, Actors, type Gate } from "../actors/actors.ts";
import { drawSwarm, type Swarm } from "../actors/swarm.ts";
import { Invariants } from "../checks/invariants.ts";
import { stable } from "../checks/oracle.ts";
import { checkPunctual, type Fired } from "../checks/punctuality.ts";
import { Reception } from "../checks/reception.ts";
import { Traffic } from "../checks/traffic.ts";
import { must, Violation } from "../checks/violation.ts";
import type { Desk, Restored, Scenario } from "../scenarios/scenario.ts";
import { Choices } from "./choices.ts";
import { EXPRESSIONS } from "./host.ts";
import type { Mode } from "./mode.ts";

/** Something that may happen next. */
export type Action = Readonly<{ label: string; act: () => void }>;

export const TENANT = "default";

/** When every run begins: 2024-01-01T00:00:00Z. */
export const BEGIN = 1_704_067_200_000;

/** Placeholder for the instance of a start without an id. */
const ANY = "";

/** The stage of one run, and what is known of it. */
export class Stage {
  readonly scenario: Scenario;
  readonly mode: Mode;
  readonly choices: Choices;
  readonly swarm: Swarm;
  readonly time = new SimulatedTime(instantFrom(BEGIN));
  readonly actors = new Actors();
  readonly invariants: Invariants;
  readonly traffic = new Traffic();
  readonly reception: Reception;
  /** Broadcasts that the bus has accepted. */
  readonly published = new Set<string>();
  /** `<instance> <ticket> <broadcast>` of waits that took by themselves what they had missed. */
  readonly missed = new Set<string>();
  readonly trace: string[] = [];
  /** Idempotency keys, in the order in which user code saw them. */
  readonly ledger: string[] = [];
  /** Attempts of exclusive tasks that have started. */
  readonly exclusiveRuns = new Set<string>();
  /** Which actor wrote, or left, what is stored beside an erased instance. */
  readonly leftBy = new Map<string, Actor | undefined>();
  readonly announced = new Map<string, unknown>();
  /** Instances whose start was acknowledged. */
  readonly acknowledged = new Set<string>();
  /** What was definitely refused. */
  readonly refused: Readonly<{ instanceId: string; ticket: string | undefined }>[] = [];
  /** Attempts that were started in this process. */
  readonly runsInLife = new Set<string>();
  readonly programs = new Map<string, Program>();
  /** Whether queues and schedules were emptied, and whether everything was recovered since. */
  restored: Restored = "not yet";
  /** Something may have been written since the invariants were checked. */
  isDirty = false;
  /** Nothing goes wrong in this run. */
  isCalm = false;
  /** One actor crashes in this run, once, if requested. */
  isStruck = false;
  /** The due index has returned an older state. */
  hasIndexLagged = false;
  /** How often sweep and wheel have queued a timer, by its instance and ticket. */
  readonly queuedAhead = new Map<string, number>();
  /** Timers that have fired. */
  readonly fired: Fired[] = [];
  /** The contents of a blob, without a port call. */
  blobOf: (name: string) => Uint8Array | undefined = () => undefined;
  /** The user's own queue. */
  ownQueue: SimulatedQueue<string> | undefined;
  /** The tools of user code, on the host that it runs on. */
  desk: () => Desk = () => {
    throw new Error("there is no host");
  };
  /** Everything in any queue, what is being delivered included. */
  queued: () => readonly Message[] = () => [];
  /** What is due, and when. */
  looks: readonly Readonly<{ key: Key; lookAt: Instant }>[] = [];
  readonly #facts = new Map<string, Map<string, Fact>>();
  /** When the cycle of an instance was last due. */
  readonly #cycles = new Map<string, Instant>();
  #maxAheadMs = 0;
  #problem: Error | undefined;

  constructor(scenario: Scenario, mode: Mode, choices: readonly number[]) {
    this.scenario = scenario;
    this.mode = mode;
    this.choices = new Choices(choices);
    this.swarm = drawSwarm(this.choices, scenario.troubles);
    this.reception = new Reception(this.traffic, mode);
    this.invariants = new Invariants({
      traffic: this.traffic,
      reception: this.reception,
      tenant: TENANT,
      programs: this.programs,
      expressions: EXPRESSIONS,
      announces: scenario.announces === true,
      factsOf: (id) => [id, ANY].flatMap((name) => [...(this.#facts.get(name)?.values() ?? [])]),
      trueNow: () => this.now,
      maxAheadMs: () => this.#maxAheadMs,
      wasSent: (id, effect) => this.wasSent(id, effect),
      blobOf: (name) => this.blobOf(name),
      onFired: (timer, instanceId) => this.#noteFired(timer, instanceId),
      leasesCount: this.mode === "durable",
    });
  }

  get now(): number {
    return this.time.now();
  }

  /** What has broken the run, if anything has. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** Fails the run, although the caller may catch everything: a violation here must not pass. */
  demand(holds: boolean, message: string): void {
    if (!holds) this.#problem ??= new Violation(message);
  }

  /**
   * Records a fact that may reach an instance from now on; a start may leave its id to the engine.
   */
  brings(instanceId: string | undefined, fact: Fact): void {
    const name = instanceId ?? ANY;
    const facts = this.#facts.get(name) ?? new Map<string, Fact>();
    facts.set(stable(fact), fact);
    this.#facts.set(name, facts);
  }

  /** Whether a record of an outbox, `<instance>:<record>`, was sent. */
  wasSent(id: string, effect: TicketlessEffect): boolean {
    const { broadcasts, acceptedEvents, letters } = this.traffic;
    switch (effect.kind) {
      case "announce":
        return this.announced.has(id);
      case "publish-signal":
        return broadcasts.has(id) && (this.published.has(id) || this.traffic.isLookedAfter(id));
      case "send-event":
        return acceptedEvents.has(effect.event.id);
      case "bury":
        return [...letters.keys()].some((letter) => letter.startsWith(effect.event.id));
      case "cancel-child":
      case "cancel-children":
      case "notify-parent":
        return this.invariants.callTree.wasSent(id, effect, this.queued());
      case "expire-chunks":
        return true;
    }
  }

  #noteFired(timer: TimerTicket, instanceId: string): void {
    const { cycle } = this.scenario;
    if (timer.element === cycle?.element) {
      const last = this.#cycles.get(instanceId);
      const is = timer.dueAt - (last ?? timer.dueAt - cycle.everyMs);
      must(is === cycle.everyMs, () => `the cycle of ${instanceId} went on after ${is} ms`);
      this.#cycles.set(instanceId, timer.dueAt);
    }
    if (!this.scenario.punctual || this.mode === "memory") return;
    const { hasIndexLagged, isStruck } = this;
    const isCalm = this.isCalm && !this.scenario.losesSchedules;
    const about = { isCalm, isStruck, hasIndexLagged, troubles: this.swarm.troubles };
    this.fired.push(checkPunctual(timer, this.now, about));
  }

  /** Records that a clock is this far ahead of true time. */
  clockIsAhead(byMs: number): void {
    this.#maxAheadMs = Math.max(this.#maxAheadMs, byMs);
  }

  /** Starts an actor on a host; a retryable failure counts as a crash. */
  spawn(
    what: string,
    { name }: Readonly<{ name: string }>,
    work: () => Promise<void>,
    { onDeath = () => {}, carried }: Partial<Pick<Actor, "onDeath" | "carried">> = {},
  ): void {
    const about = { id: what, what, hostName: name, onDeath, ...(carried && { carried }) };
    this.actors.spawn(about, work, (error) => {
      if (error instanceof EngineError && error.retryable) {
        this.trace.push(`  ${what} failed: ${error.code}`);
        onDeath();
      } else {
        this.#problem ??= error instanceof Error ? error : new Error(String(error));
      }
    });
  }
}

/** Where each actor pauses, for the trace. */
export const describeGate = ({ actor, point, side, call }: Gate): string =>
  `${actor?.what ?? "the store"}: ${side} ${point} (${call})`;
