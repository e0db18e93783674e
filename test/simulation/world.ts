/**
 * A whole world on one thread: hosts, queues, a store, callers and time. One loop picks what
 * happens next; nothing else happens meanwhile. The choices are all there is to a run: the same
 * choices give the same run, call by call and byte by byte.
 *
 * 1. With durable queues, a crash ends one invocation; its message comes back after a while.
 * 2. With queues in memory there is one host; a crash ends all that runs and empties the queues,
 *    and the next life of the process begins with a recovery.
 * 3. When the choices are exhausted, everything happens in order and without faults, until there
 *    is nothing left to do.
 */
import { SimulatedClock, SimulatedTime } from "../../lib/adapters/simulated/clock.ts";
import { SimulatedParking } from "../../lib/adapters/simulated/parking.ts";
import type { Queued, SimulatedQueue } from "../../lib/adapters/simulated/queue.ts";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { SimulatedTasks } from "../../lib/adapters/simulated/tasks.ts";
import { SimulatedTimers } from "../../lib/adapters/simulated/timers.ts";
import type { Variables } from "../../lib/definition/json.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { instanceIdOf } from "../../lib/engine/keys.ts";
import type { Fact } from "../../lib/kernel/fact.ts";
import type { Program } from "../../lib/kernel/runner.ts";
import type { Bus } from "../../lib/ports/bus.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";
import type { Invocation, Message, OwedMessage, ParkedMessage } from "../../lib/ports/message.ts";
import type { Item } from "../../lib/ports/store.ts";
import type { TaskAttempt, TaskHandler, TaskOutcome } from "../../lib/ports/tasks.ts";
import { type Actor, Actors, type Fault, type Gate, type Side } from "./actors.ts";
import { Choices } from "./choices.ts";
import { checkDebts } from "./debts.ts";
import { countedIds, createHost, type Host, runnersOf } from "./host.ts";
import { Invariants } from "./invariants.ts";
import { stable } from "./oracle.ts";
import type { Answer, Call, Caller, Handler, Scenario } from "./scenario.ts";
import { drawSwarm, type Swarm } from "./swarm.ts";
import { must, Violation } from "./violation.ts";

export type Mode = "durable" | "memory";

/** One fault at one port call, for runs that are otherwise without any. */
export type Injection = Readonly<{ call: number; side: Side; fault: "crash" | Fault }>;

export const TENANT = "default";

/** 2024-01-01T00:00:00Z. */
const BEGIN = 1_704_067_200_000;
const VISIBILITY_MS = 90_000;
const FUNCTION_MS = 60_000;
const SWEEP_EVERY_MS = 60_000;
const HOSTS = 3;
const MAX_TURNS = 20_000;

type Action = Readonly<{ label: string; act: () => void }>;
type Parked = ParkedMessage | OwedMessage;

export class SimulatedWorld {
  readonly scenario: Scenario;
  readonly mode: Mode;
  readonly actors = new Actors();
  readonly store: SimulatedStore;
  readonly invariants: Invariants;
  readonly trace: string[] = [];
  /** Idempotency keys, in the order in which user code saw them. */
  readonly ledger: string[] = [];
  readonly announced = new Map<string, unknown>();
  /** Instances whose start was answered. */
  readonly acknowledged = new Set<string>();
  readonly parking: SimulatedParking;
  readonly tasks: SimulatedTasks;
  readonly timers: SimulatedTimers;
  readonly #time = new SimulatedTime(instantFrom(BEGIN));
  readonly #choices: Choices;
  readonly #swarm: Swarm;
  readonly #injection: Injection | undefined;
  readonly #ids = countedIds();
  readonly #facts = new Map<string, Map<string, Fact>>();
  readonly #callers: CallerState[];
  readonly #programs = new Map<string, Program>();
  #hosts: readonly Host[] = [];
  #life = 0;
  #invocations = 0;
  #isOpen = false;
  #sweptAt = BEGIN;
  #maxAheadMs = 0;
  #problem: Error | undefined;
  #isDirty = false;

  constructor(
    scenario: Scenario,
    mode: Mode,
    { choices = [], injection }: Readonly<{ choices?: readonly number[]; injection?: Injection }>,
  ) {
    this.scenario = scenario;
    this.mode = mode;
    this.#choices = new Choices(choices);
    this.#swarm = drawSwarm(this.#choices, scenario.troubles);
    this.#injection = injection;
    this.#callers = scenario
      .callers()
      .map((caller) => ({ caller, next: 0, state: "ready", at: 0, tries: 0 }));
    this.store = new SimulatedStore({ turn: (point) => this.#storeTurn(point) });
    const clock = this.#time;
    const queue = { clock, visibilityMs: VISIBILITY_MS };
    this.parking = new SimulatedParking({ ...queue, turn: this.#turnOf("parking.park") });
    this.tasks = new SimulatedTasks({
      ...queue,
      turn: this.#turnOf("tasks.send"),
      handlers: new Map(
        Object.entries(scenario.handlers).map(([type, handler]) => [type, this.#handler(handler)]),
      ),
      knowsWhatItHolds: mode === "memory",
    });
    this.timers = new SimulatedTimers({ ...queue, turn: this.#turnOf("timers.arm") });
    this.invariants = new Invariants({
      tenant: TENANT,
      programs: this.#programs,
      expressions: this.#newHost("observer", 0).world.expressions,
      announces: scenario.announces === true,
      factsOf: (id) => [...(this.#facts.get(id)?.values() ?? [])],
      trueNow: () => this.now,
      maxAheadMs: () => this.#maxAheadMs,
      wasAnnounced: (id) => this.announced.has(id),
    });
  }

  get now(): number {
    return this.#time.now();
  }

  /** An engine that nobody gates, for looking at the world when it rests. */
  observer(): Host {
    return this.#newHost("observer", 0);
  }

  /** Runs until there is nothing left to do; throws what broke. */
  async run(): Promise<void> {
    await this.#deploy();
    this.#open();
    for (let turn = 0; ; turn++) {
      await quiet();
      if (this.#isDirty) await this.#look();
      if (this.mode === "durable") this.#checkDebts();
      if (this.#problem) throw this.#problem;
      const action = this.#pick();
      if (action === undefined) return;
      must(turn < MAX_TURNS, () => `still busy after ${MAX_TURNS} turns: ${action.label}`);
      this.trace.push(`${this.now - BEGIN} ${action.label}`);
      action.act();
      this.#time.pass(1);
    }
  }

  async #deploy(): Promise<void> {
    const host = this.observer();
    for (const definition of this.scenario.definitions) {
      const { notation } = definition;
      const source = JSON.stringify([definition]);
      const { definitions } = await host.engine.deploy({ notation, source });
      for (const { hash, version } of definitions) {
        const stored = { ...definition, hash, version };
        const runner = runnersOf(this.scenario.workflows ?? new Map())[stored.body.runner];
        if (runner) this.#programs.set(hash, { definition: stored, runner: runner(stored) });
      }
    }
  }

  /** A process begins, or all hosts do. What queues in memory held is gone. */
  #open(): void {
    this.#life += 1;
    const skews = [0, -2_000, 2_000].map((skew) => (this.#swarm.rate > 0 ? skew : 0));
    const count = this.mode === "memory" ? 1 : HOSTS;
    this.#hosts = skews
      .slice(0, count)
      .map((skew, n) => this.#newHost(`host${this.#life}.${n}`, skew));
    this.#maxAheadMs = Math.max(this.#maxAheadMs, ...skews);
    const [host] = this.#hosts;
    if (this.mode === "durable" || host === undefined) {
      this.#isOpen = true;
      return;
    }
    this.#isOpen = false;
    this.#spawn("recover", host, async () => {
      await host.engine.recover();
      this.#isOpen = true;
    });
  }

  #newHost(name: string, skewMs: number): Host {
    const life = `${this.#life}-`;
    const isMemory = this.mode === "memory";
    const clock = new SimulatedClock({
      time: this.#time,
      skewMs,
      turn: () => this.actors.stop("clock.pause", "before"),
    });
    return createHost({
      name,
      clock,
      store: this.store,
      parking: { park: (message) => this.#park(message) },
      tasks: this.tasks,
      timers: {
        arm: (timer) => (isMemory && timer.covered ? Promise.resolve() : this.#arm(timer)),
        disarm: async (timer) => this.#disarm(timer),
      },
      ids: this.#ids,
      ...(this.scenario.announces && { bus: this.#bus() }),
      workflows: this.scenario.workflows ?? new Map(),
      settings: {
        tenant: TENANT,
        retentionMs: 30 * 24 * 3_600_000,
        volatileQueues: isMemory,
        ...(isMemory && { isDeadOwner: (own: string) => !own.startsWith(life) }),
      },
    });
  }

  // What the engine's ports do here.

  async #storeTurn(point: string) {
    const [call = "", part = ""] = point.split(":");
    if (part === "half" && this.mode === "memory") return undefined;
    const isOwn = part === "half" || part === "late";
    const fault = isOwn
      ? await this.actors.stopStore(`store.${point}`)
      : await this.actors.stop(`store.${call}`, part === "before" ? "before" : "after");
    if (call === "commit" || call === "tidy") this.#isDirty = true;
    return fault && isStoreFault(fault) ? fault : undefined;
  }

  #turnOf(point: string) {
    return async (at: string, message: Message) => {
      if (at === "send:before") this.#noteFact(message);
      const fault = await this.actors.stop(point, at === "send:before" ? "before" : "after");
      return fault?.fault === "duplicated" || fault?.fault === "delayed" ? fault : undefined;
    };
  }

  async #park(message: Parked): Promise<void> {
    const isDouble = this.parking
      .all()
      .some((queued) => stable(queued.message) === stable(message));
    if (this.scenario.swallowsDoubles && isDouble) return;
    await this.parking.park(message);
  }

  /** A timer that never comes is armed and lost: only the due index knows it. */
  async #arm(timer: Parameters<SimulatedTimers["arm"]>[0]): Promise<void> {
    const fault = await this.actors.stop("timers.road", "before");
    if (fault?.fault !== "never") await this.timers.arm(timer);
  }

  /** What was delivered once is somebody's trigger, and stays until that one lets it go. */
  #disarm({ instanceId, ticket }: Readonly<{ instanceId: string; ticket: string }>): void {
    this.timers.lose(
      ({ message, receives }) =>
        receives === 0 && message.instanceId === instanceId && message.ticket === ticket,
    );
  }

  #bus(): Bus {
    return {
      announce: async (announcement) => {
        await this.actors.stop("bus.announce", "before");
        this.announced.set(announcement.id, announcement.notice);
        await this.actors.stop("bus.announce", "after");
      },
    };
  }

  #handler({ takesMs = 0, isolate, exclusive, ...user }: Handler): TaskHandler {
    return {
      timeoutMs: 1_000,
      isolate: isolate === true,
      exclusive: exclusive === true,
      run: async (input: Variables, about: TaskAttempt): Promise<TaskOutcome> => {
        this.#checkMayRun(about);
        await this.actors.stop("handler", "before");
        this.ledger.push(about.idempotencyKey);
        const outcome = user.outcome(about, input);
        this.#brings(about.instanceId, factOf(about, outcome));
        await this.actors.stop("handler", "after", this.now + takesMs);
        return outcome;
      },
    };
  }

  /** User code runs only for what was committed, and never for a start that lost. */
  #checkMayRun({ instanceId, ticket }: TaskAttempt): void {
    const life = this.invariants.lives.get(instanceId);
    this.#demand(life?.ids.has(ticket) === true, `${ticket} of ${instanceId} ran uncommitted`);
    this.#checkCarried(instanceId, `ran ${ticket}`);
  }

  #checkCarried(instanceId: string, did: string): void {
    const carried = this.actors.current?.carried;
    const instance = this.invariants.lives.get(instanceId)?.instance;
    if (carried === undefined || instance === undefined) return;
    const isOwn =
      instance.startedAt === carried.now && instance.startHash.request === carried.request;
    this.#demand(isOwn, `a start that lost ${did} on ${instanceId}`);
  }

  /** Breaks the run, though the caller may catch everything: what fails here must not pass. */
  #demand(holds: boolean, message: string): void {
    if (!holds) this.#problem ??= new Violation(message);
  }

  #brings(instanceId: string, fact: Fact): void {
    const facts = this.#facts.get(instanceId) ?? new Map<string, Fact>();
    facts.set(stable(fact), fact);
    this.#facts.set(instanceId, facts);
  }

  #noteFact(message: Message): void {
    const start = "start" in message ? message.start : undefined;
    if (start) this.#brings(message.instanceId, start.fact);
    if (message.kind === "parked") this.#brings(message.instanceId, message.fact);
  }

  // What happens next.

  #pick(): Action | undefined {
    const struck = this.#injected();
    if (struck) return struck;
    const usual = this.#usual();
    const unusual = this.#choices.isExhausted ? [] : this.#oneKindOf(this.#unusual());
    if (usual.length > 0) return this.#choices.turn(usual, unusual, this.#swarm.rate);
    return this.#nextInstant();
  }

  #injected(): Action | undefined {
    const { call, side, fault } = this.#injection ?? { call: 0, side: "before", fault: "crash" };
    const gate = this.actors.gates.find(
      (open) => open.actor && open.call === call && open.side === side && open.call > 0,
    );
    if (gate?.actor === undefined) return undefined;
    if (fault === "crash") return this.#crash(gate.actor, gate);
    return { label: `${describe(gate)} meets ${stable(fault)}`, act: () => this.#go(gate, fault) };
  }

  #usual(): readonly Action[] {
    return [...this.#gates(), ...this.#calls(), ...this.#deliveries(), ...this.#sweeps()];
  }

  #gates(): readonly Action[] {
    const ready = this.actors.gates.filter(({ notBefore }) => notBefore <= this.now);
    const [late, others] = [ready.filter(isLate), ready.filter((gate) => !isLate(gate))];
    return [...others, ...late].map((gate) => ({
      label: describe(gate),
      act: () => this.#go(gate),
    }));
  }

  #go(gate: Gate, fault?: Fault): void {
    this.actors.leave(gate, fault);
  }

  #calls(): readonly Action[] {
    if (!this.#isOpen) return [];
    return this.#callers.flatMap((state): Action[] => {
      const call = state.caller.calls[state.next];
      const readyAt = Math.max(state.at, BEGIN + (call?.atMs ?? 0));
      if (call === undefined || state.state === "calling" || this.now < readyAt) return [];
      const label = `${state.caller.name} calls ${call.name}`;
      return [{ label, act: () => this.#call(state, call) }];
    });
  }

  #call(state: CallerState, call: Call): void {
    const host = this.#anyHost();
    state.state = "calling";
    const later = () => {
      state.state = "ready";
      state.at = this.now + Math.min(1_000 * 2 ** state.tries, 300_000);
      state.tries += 1;
    };
    const desk = {
      engine: host.engine,
      brings: (instanceId: string, fact: Fact) => this.#brings(instanceId, fact),
      committedEntries: (instanceId: string) =>
        (this.invariants.lives.get(instanceId)?.instance.trail.next ?? 1) - 1,
    };
    const work = async () => {
      const answer = await answerOf(() => call.make(desk));
      if (answer === "again later") return later();
      const problem = call.judge?.(answer);
      if (problem !== undefined) this.#demand(false, `${state.caller.name}: ${problem}`);
      if (answer.kind === "started") this.acknowledged.add(answer.instanceId);
      this.trace.push(`  ${state.caller.name} hears ${stable(answer)}`);
      state.state = "ready";
      state.next += 1;
      state.tries = 0;
    };
    this.#spawn(`${state.caller.name} ${call.name}`, host, work, { onDeath: later });
  }

  #deliveries(): readonly Action[] {
    const host = () => this.#anyHost();
    const single = (queue: SimulatedQueue<Message>, name: string) =>
      queue.ready().map((queued) => ({
        label: `${name} delivers ${name === "tasks" || name === "timers" ? nameOf(queued.message) : ""} #${queued.id}`,
        act: () => this.#deliver(queue, queued, host()),
      }));
    const parked = this.parking.batches().map((batch) => ({
      label: `parking delivers ${batch.map(({ id, message }) => `${message.kind} ${message.name} #${id}`).join(", ")}`,
      act: () => this.#deliverParked(batch, host()),
    }));
    return [
      ...single(widen(this.tasks), "tasks"),
      ...single(widen(this.timers), "timers"),
      ...parked,
    ];
  }

  #deliver(queue: SimulatedQueue<Message>, queued: Queued<Message>, host: Host): void {
    const { message, id } = queued;
    const invocation = this.#invocation(host, message.kind === "task");
    const carried = "start" in message ? message.start : undefined;
    this.#spawn(
      `${invocation.id} ${message.kind} ${nameOf(message)}`,
      host,
      () => queue.deliver(id, (each) => host.engine.handle(each, invocation)),
      { onDeath: () => queue.abandon(id), ...(carried && { carried }) },
    );
  }

  #deliverParked(batch: readonly Queued<Parked>[], host: Host): void {
    const invocation = this.#invocation(host, false);
    const ids = batch.map(({ id }) => id);
    const names = batch.map(({ message }) => message.name);
    this.#spawn(
      `${invocation.id} advance ${names.join(" ")}`,
      host,
      () => this.parking.deliverBatch(ids, (messages) => host.engine.advance(messages, invocation)),
      {
        onDeath: () => {
          for (const id of ids) this.parking.abandon(id);
        },
      },
    );
  }

  #invocation(host: Host, mayContinue: boolean): Invocation {
    const id = `${this.#life}-${++this.#invocations}`;
    return { id, until: instantFrom(host.clock.now() + FUNCTION_MS), mayContinue };
  }

  /** Durable: each minute somebody looks what is overdue. In memory: the loop over what is due. */
  #sweeps(): readonly Action[] {
    const host = this.#hosts[0];
    if (host === undefined || !this.#isOpen) return [];
    if (this.#isSweeping || !this.#isSweepDue(host)) return [];
    return [{ label: this.mode === "memory" ? "due loop" : "sweep", act: () => this.#sweep(host) }];
  }
  #isSweeping = false;

  #isSweepDue(host: Host): boolean {
    const next = this.#nextSweep(host);
    return next !== undefined && next <= this.now;
  }

  /** True time of the next look; none while nothing has to be looked at. */
  #nextSweep({ clock }: Host): number | undefined {
    const looks = [...this.invariants.lives.values()].flatMap(({ item: { lookAt } }) =>
      lookAt !== undefined && lookAt > 0 ? [lookAt] : [],
    );
    if (looks.length === 0) return undefined;
    const aheadMs = clock.now() - this.now;
    const earliest = Math.min(...looks) - aheadMs;
    if (this.mode === "memory") return Math.max(earliest, this.#sweptAt);
    return Math.max(earliest + 60_000, this.#sweptAt + SWEEP_EVERY_MS);
  }

  #sweep(host: Host): void {
    this.#isSweeping = true;
    const over = () => {
      this.#isSweeping = false;
      this.#sweptAt = this.now + (this.mode === "memory" ? 50 : 0);
    };
    const work = async () => {
      const isMemory = this.mode === "memory";
      const until = instantFrom(host.clock.now() - (isMemory ? 0 : 60_000));
      const page = await host.world.store.due(until, { index: 0, of: 1 });
      for (const key of page.items) {
        const instanceId = instanceIdOf(key);
        const life = instanceId === undefined ? undefined : this.invariants.lives.get(instanceId);
        if (instanceId === undefined || life === undefined || life.item.lookAt === 0) continue;
        if (isMemory) await host.engine.wake(instanceId, this.#invocation(host, false));
        else await this.#sendDue(host, instanceId);
      }
      over();
    };
    this.#spawn(this.mode === "memory" ? "due loop" : "sweep", host, work, { onDeath: over });
  }

  async #sendDue(host: Host, instanceId: string): Promise<void> {
    await this.actors.stop("store.get", "before");
    const life = this.invariants.lives.get(instanceId);
    const now = host.clock.now();
    for (const ticket of life?.instance.tickets ?? []) {
      if (ticket.on !== "timer" || ticket.dueAt > now) continue;
      await this.timers.send({ kind: "timer", tenant: TENANT, instanceId, ticket: ticket.id });
    }
  }

  /** Nothing can happen now: time passes until something can. */
  #nextInstant(): Action | undefined {
    const host = this.#hosts[0];
    const instants = [
      ...this.actors.gates.map(({ notBefore }) => notBefore),
      ...[this.tasks, this.timers, this.parking].flatMap((queue) => queue.nextVisible() ?? []),
      ...this.#callers.flatMap(({ caller, next, state, at }) => {
        const call = caller.calls[next];
        return call && state === "ready" ? [Math.max(at, BEGIN + (call.atMs ?? 0))] : [];
      }),
      ...(host && !this.#isSweeping && this.#nextSweep(host) ? [this.#nextSweep(host) ?? 0] : []),
    ].filter((instant) => instant > this.now);
    if (instants.length === 0) return undefined;
    const byMs = Math.min(...instants) - this.now;
    return { label: `${byMs} ms pass`, act: () => this.#time.pass(byMs) };
  }

  // What may go wrong.

  /** Kind by kind: one that has many forms must not drown the others. */
  #unusual(): readonly (readonly Action[])[] {
    const { troubles } = this.#swarm;
    return [
      troubles.has("crash") ? this.#crashes() : [],
      this.#refusals(),
      troubles.has("duplicate") ? this.#duplicates() : [],
      troubles.has("redeliver") ? this.#redeliveries() : [],
      troubles.has("stall") ? this.#stalls() : [],
      troubles.has("slow") ? this.#delays() : [],
      troubles.has("jump") ? this.#jumps() : [],
    ].filter((kind) => kind.length > 0);
  }

  #oneKindOf(kinds: readonly (readonly Action[])[]): readonly Action[] {
    return kinds[this.#choices.below(kinds.length)] ?? [];
  }

  /** Somebody is so slow that the queue gives the message to another; later it goes on. */
  #stalls(): readonly Action[] {
    return this.actors.gates.flatMap((gate) =>
      gate.actor
        ? [75_000, 95_000, 60_000, 1_200_000].map((ms) => ({
            label: `${ms} ms of standstill at ${describe(gate)}`,
            act: () => {
              gate.notBefore = this.now + ms;
            },
          }))
        : [],
    );
  }

  #crashes(): readonly Action[] {
    return this.actors.gates.flatMap((gate) => (gate.actor ? [this.#crash(gate.actor, gate)] : []));
  }

  #crash(actor: Actor, gate: Gate): Action {
    const label = `crash at ${describe(gate)}`;
    if (this.mode === "durable") return { label, act: () => this.actors.kill(actor) };
    return { label: `process ${label}`, act: () => this.#crashProcess() };
  }

  #crashProcess(): void {
    for (const actor of [...this.actors.atWork]) this.actors.kill(actor);
    for (const queue of [this.tasks, this.timers, this.parking]) queue.lose();
    this.#open();
  }

  /** What the store and the timers may answer to somebody who stands before a call of theirs. */
  #refusals(): readonly Action[] {
    const { troubles } = this.#swarm;
    const isDurable = this.mode === "durable";
    return this.actors.gates.flatMap((gate) => {
      if (gate.side !== "before" || gate.actor === undefined) return [];
      const faults: Fault[] = [];
      if (gate.point === "store.commit" && isDurable) {
        if (troubles.has("throttle")) faults.push({ fault: "busy", retryAfterMs: 20 });
        if (troubles.has("doubt")) faults.push(...DOUBTS);
      }
      if (gate.point === "store.due" && isDurable) faults.push({ fault: "stale" });
      if (gate.point === "timers.road" && troubles.has("timers") && isDurable) {
        faults.push({ fault: "never" });
      }
      if (gate.point === "timers.arm" && troubles.has("timers")) {
        faults.push({ fault: "duplicated" }, { fault: "delayed", byMs: 45_000 });
      }
      if (gate.point === "tasks.send" && troubles.has("duplicate")) {
        faults.push({ fault: "duplicated" }, { fault: "delayed", byMs: 120_000 });
      }
      return faults.map((fault) => ({
        label: `${describe(gate)} meets ${stable(fault)}`,
        act: () => this.#go(gate, fault),
      }));
    });
  }

  #duplicates(): readonly Action[] {
    if (this.mode === "memory") return [];
    return this.#queues().flatMap(([name, queue]) =>
      queue.all().map(({ id }) => ({
        label: `${name} duplicates #${id}`,
        act: () => queue.duplicate(id),
      })),
    );
  }

  /** A delivery takes so long that the queue gives it up, and delivers again. */
  #redeliveries(): readonly Action[] {
    if (this.mode === "memory") return [];
    return this.#queues().flatMap(([name, queue]) =>
      queue
        .all()
        .filter(({ visibleAt }) => visibleAt > this.now)
        .map(({ id }) => ({
          label: `${name} brings #${id} back`,
          act: () => queue.reveal(id),
        })),
    );
  }

  #queues(): readonly (readonly [string, SimulatedQueue<Message>])[] {
    return [
      ["tasks", widen(this.tasks)],
      ["timers", widen(this.timers)],
      ["parking", widen(this.parking)],
    ];
  }

  #delays(): readonly Action[] {
    return [200, 5_000, 31_000, 100_000].map((ms) => ({
      label: `${ms} ms pass meanwhile`,
      act: () => this.#time.pass(ms),
    }));
  }

  /** Within two seconds of the truth; a process of its own may have its clock set by anybody. */
  #jumps(): readonly Action[] {
    const steps = this.mode === "memory" ? [-60_000, -1_000, 1_000, 60_000] : [-1_000, 1_000];
    const bound = this.mode === "memory" ? 600_000 : 2_000;
    return this.#hosts.flatMap(({ name, clock }) =>
      steps
        .filter((ms) => Math.abs(clock.now() + ms - this.now) <= bound)
        .map((ms) => ({
          label: `the clock of ${name} jumps by ${ms} ms`,
          act: () => {
            clock.jump(ms);
            this.#maxAheadMs = Math.max(this.#maxAheadMs, clock.now() - this.now);
          },
        })),
    );
  }

  #anyHost(): Host {
    const host = this.#hosts[this.#choices.below(this.#hosts.length)];
    if (host === undefined) throw new Error("there is no host");
    return host;
  }

  #spawn(
    what: string,
    { name }: Host,
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

  #checkDebts(): void {
    const messages = this.#queues().flatMap(([, queue]) =>
      queue.all().map(({ message }) => message),
    );
    for (const { instance } of this.invariants.lives.values()) {
      checkDebts(instance, {
        messages,
        runsHere: (type) => Object.hasOwn(this.scenario.handlers, type),
        wasAnnounced: (id) => this.announced.has(id),
        items: () => this.store.items(),
      });
    }
  }

  async #look(): Promise<void> {
    this.#isDirty = false;
    const items: readonly Item[] = this.store.items();
    for (const change of await this.invariants.observe(items)) {
      this.trace.push(`  stored ${change} ${digestOf(this.invariants, change)}`);
    }
  }
}

type CallerState = {
  readonly caller: Caller;
  next: number;
  state: "ready" | "calling";
  at: number;
  /** Of the call that is next. */
  tries: number;
};

const DOUBTS: readonly Fault[] = [
  { fault: "unknown", applied: true },
  { fault: "unknown", applied: false },
  { fault: "unknown", applied: "later" },
];

/** Everything that was set going has come to a gate, or to its end. */
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const isLate = ({ point }: Gate): boolean => point === "store.commit:late";

const isStoreFault = (
  fault: Fault,
): fault is Exclude<Fault, { fault: "duplicated" | "delayed" | "never" }> =>
  fault.fault !== "duplicated" && fault.fault !== "delayed" && fault.fault !== "never";

const describe = ({ actor, point, side, call }: Gate): string =>
  `${actor?.what ?? "the store"}: ${side} ${point} (${call})`;

function nameOf(message: Message): string {
  if (message.kind === "task") return `${message.instanceId} ${message.ticket}/${message.attempt}`;
  return `${message.instanceId} ${message.kind === "timer" ? message.ticket : message.name}`;
}

/** Queues of different messages are handled alike: what goes in and out is the same message. */
function widen<M extends Message>(queue: SimulatedQueue<M>): SimulatedQueue<Message> {
  return queue as unknown as SimulatedQueue<Message>;
}

function factOf({ ticket, attempt }: TaskAttempt, outcome: TaskOutcome): Fact {
  if (outcome.kind === "completed") {
    return { kind: "task-completed", ticket, variables: outcome.variables };
  }
  const { kind: _, ...failure } = outcome;
  return { kind: "task-failed", ticket, attempt, ...failure };
}

async function answerOf(make: () => ReturnType<Call["make"]>): Promise<Answer | "again later"> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.retryable ? "again later" : { kind: "refused", code: error.code };
  }
}

function digestOf({ lives }: Invariants, change: string): string {
  const body = lives.get(change.split(" ")[0] ?? "")?.item.body ?? new Uint8Array();
  return new TextDecoder().decode(body);
}
