/**
 * A whole world on one thread: hosts, queues, a store, callers and time. One loop chooses
 * what happens next; nothing else happens meanwhile. A run is determined by its choices: the same
 * choices give the same run, call by call and byte by byte.
 *
 * 1. With durable queues, a crash ends one invocation; its message is redelivered later.
 * 2. With queues in memory there is one host; a crash ends everything that runs and empties the
 *    queues, and the next process starts with a recovery.
 * 3. When the choices are exhausted, everything happens in order and without faults, until there
 *    is nothing left to do.
 */
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { Gate } from "../actors/actors.ts";
import { Calls, deskOf } from "../actors/calls.ts";
import { deliveries } from "../actors/deliveries.ts";
import { Adoptions, Releases } from "../actors/releases.ts";
import { Restore } from "../actors/restore.ts";
import { Sweeps } from "../actors/sweeps.ts";
import { type Injection, injected, troubles } from "../actors/troubles.ts";
import { WheelTurns } from "../actors/wheel-turns.ts";
import { checkDebts } from "../checks/debts.ts";
import type { Invariants } from "../checks/invariants.ts";
import { noteLeft } from "../checks/left-beside.ts";
import { checkRefused } from "../checks/refused.ts";
import { must } from "../checks/violation.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { type Host, runnersOf, sourceOf } from "./host.ts";
import { Hosts } from "./hosts.ts";
import type { Mode } from "./mode.ts";
import { type Backends, createBackends, queuesOf } from "./ports.ts";
import { type Action, BEGIN, describeGate, Stage } from "./stage.ts";

const MAX_TURNS = 20_000;

/** One run, from the first call until everything rests. */
export class SimulatedWorld {
  readonly stage: Stage;
  readonly backends: Backends;
  readonly #injection: Injection | undefined;
  readonly #hosts: Hosts;
  readonly #calls: Calls;
  readonly #sweeps: Sweeps;
  readonly #wheel: WheelTurns;
  readonly #releases: Releases;
  readonly #restore: Restore;
  readonly #adoptions: Adoptions;
  /** What the store and the queues held when the debts were last checked. */
  #held: readonly unknown[] = [];

  constructor(
    scenario: Scenario,
    mode: Mode,
    { choices = [], injection }: Readonly<{ choices?: readonly number[]; injection?: Injection }>,
  ) {
    this.stage = new Stage(scenario, mode, choices);
    this.backends = createBackends(this.stage);
    this.#injection = injection;
    this.#hosts = new Hosts(this.stage, this.backends);
    this.#calls = new Calls(this.stage, this.#hosts);
    this.#sweeps = new Sweeps(this.stage, this.#hosts);
    this.#wheel = new WheelTurns(this.stage, this.#hosts);
    this.#releases = new Releases(this.stage, this.#hosts);
    this.#restore = new Restore(this.stage, this.#hosts, this.backends);
    this.#adoptions = new Adoptions(this.stage, this.#hosts, this.backends);
    this.stage.desk = () => deskOf(this.stage, this.#hosts.here());
    this.stage.isCalm = this.isCalm;
    this.stage.isStruck = injection?.fault === "crash";
  }

  /** This run has no faults. */
  get isCalm(): boolean {
    return this.#injection === undefined && this.stage.swarm.rate === 0;
  }

  /** This run has at most one fault. */
  get hasFewFaults(): boolean {
    return this.stage.swarm.rate === 0;
  }

  /** An engine without gates, to read the world when it rests. */
  observer(): Host {
    return this.#hosts.observer();
  }

  /** Runs until there is nothing left to do; throws the violation. */
  async run(): Promise<void> {
    const { stage } = this;
    await this.#deploy();
    this.#hosts.open();
    for (let turn = 0; ; turn++) {
      await quiet();
      if (stage.isDirty) await this.look();
      if (stage.mode === "durable" && stage.restored !== "lost") this.#checkDebts();
      if (stage.problem) throw stage.problem;
      const action = this.#pick();
      if (action === undefined) return;
      must(turn < MAX_TURNS, () => `still busy after ${MAX_TURNS} turns: ${action.label}`);
      stage.trace.push(`${stage.now - BEGIN} ${action.label}`);
      action.act();
      stage.time.pass(stage.scenario.isTimeless ? 0 : 1);
    }
  }

  async #deploy(): Promise<void> {
    const host = this.observer();
    const { scenario } = this.stage;
    for (const definition of scenario.definitions) await this.#deployTo(host, definition);
    const elsewhere = this.#hosts.elsewhere();
    for (const definition of [...scenario.definitions, ...(scenario.later ?? [])]) {
      await this.#deployTo(elsewhere, definition);
    }
  }

  async #deployTo({ engine }: Host, definition: Compiled): Promise<void> {
    const { scenario, programs } = this.stage;
    const { definitions } = await engine.deploy(sourceOf(definition));
    for (const { hash, version } of definitions) {
      const stored = { ...definition, hash, version };
      // Without any session: what is written must be what a fresh replay decides.
      const { losesMachines: _, ...steady } = scenario;
      const { graph, code } = runnersOf({ ...steady, sessions: { live: 0, idle: 0 } });
      const source = async () => sourceOf(definition).source;
      const runner = stored.body.runner === "graph" ? graph?.(stored) : code?.(stored, source);
      if (runner) programs.set(hash, { definition: stored, runner });
    }
  }

  // What happens next.

  #pick(): Action | undefined {
    const struck = this.#injection && injected(this.stage, this.#hosts, this.#injection);
    if (struck) return struck;
    // What is in progress: no choice delays it.
    const [restore] = this.#restore.actions();
    if (restore) return restore;
    const { choices, swarm } = this.stage;
    // Without choices the first action is taken: the others need not be listed.
    if (choices.isExhausted) return this.#usual().next().value ?? this.#nextInstant();
    const usual = [...this.#usual()];
    const unusual = this.#unusual();
    if (usual.length > 0) return choices.turn(usual, unusual, swarm.rate);
    return this.#nextInstant();
  }

  *#usual(): Generator<Action, undefined> {
    yield* this.#gates();
    yield* this.#calls.actions();
    yield* deliveries(this.stage, this.#hosts, this.backends);
    yield* this.backends.scheduler.actions();
    yield* this.#sweeps.actions();
    yield* this.#wheel.actions();
    yield* this.#releases.actions();
    yield* this.#adoptions.actions();
  }

  #unusual(): readonly Action[] {
    const kinds = troubles(this.stage, this.#hosts, this.backends);
    return kinds[this.stage.choices.below(kinds.length)] ?? [];
  }

  #gates(): readonly Action[] {
    const { actors, now } = this.stage;
    const ready = actors.gates.filter(({ notBefore }) => notBefore <= now);
    const [late, others] = [ready.filter(isLate), ready.filter((gate) => !isLate(gate))];
    return [...others, ...late].map((gate) => ({
      get label() {
        return describeGate(gate);
      },
      act: () => actors.leave(gate),
    }));
  }

  /** Nothing can happen now: time passes until something can. */
  #nextInstant(): Action | undefined {
    const { actors, now, time } = this.stage;
    const instants = [
      ...actors.gates.map(({ notBefore }) => notBefore),
      ...queuesOf(this.backends).flatMap(([, queue]) => queue.nextVisible() ?? []),
      ...this.#calls.instants(),
      ...this.backends.scheduler.instants(),
      ...this.#sweeps.instants(),
      ...this.#wheel.instants(),
      ...this.#releases.instants(),
      ...this.#restore.instants(),
      ...this.#adoptions.instants(),
    ].filter((instant) => instant > now);
    if (instants.length === 0) return undefined;
    const byMs = Math.min(...instants) - now;
    return { label: `${byMs} ms pass`, act: () => time.pass(byMs) };
  }

  // What must hold after every turn.

  /** Checks everything that was stored since the last check. */
  async look(): Promise<void> {
    const { stage } = this;
    stage.isDirty = false;
    const items = this.backends.store.items();
    stage.looks = items.flatMap(({ key, lookAt }) =>
      lookAt === undefined ? [] : [{ key, lookAt }],
    );
    for (const change of await stage.invariants.observe(items)) {
      stage.trace.push(`  stored ${change} ${digestOf(stage.invariants, change)}`);
    }
    checkRefused(stage);
    noteLeft(stage, this.backends);
  }

  #checkDebts(): void {
    const { invariants, scenario, traffic } = this.stage;
    const held = [this.backends.store.items(), ...queuesOf(this.backends).map(([, q]) => q.all())];
    // What was sent before counts from then on: only these can create a debt without a message.
    if (held.every((all, n) => all === this.#held[n])) return;
    this.#held = held;
    const messages = this.stage.queued();
    for (const { instance } of invariants.lives.values()) {
      checkDebts(instance, {
        messages,
        runsHere: (type) =>
          scenario.releases ? undefined : Object.hasOwn(scenario.handlers, type),
        wasSent: (id, effect) => this.stage.wasSent(id, effect),
        seqOf: (id) => traffic.broadcasts.get(id)?.seq,
        items: () => this.backends.store.items(),
        isInOwnQueue: (taskId, attempt) => isInOwnQueue(this.stage, taskId, attempt),
        callTree: invariants.callTree,
      });
    }
  }
}

/** Everything that was started has reached a gate, or its end. */
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The consumer of the user's own queue deletes a message only once its task is over. */
const isInOwnQueue = ({ ownQueue }: Stage, taskId: string, attempt: number): boolean =>
  ownQueue?.all().some(({ message }) => {
    const task = JSON.parse(message);
    return task.taskId === taskId && task.attempt === attempt;
  }) ?? false;

const isLate = ({ point }: Gate): boolean => point === "store.commit:late";

function digestOf({ lives }: Invariants, change: string): string {
  const body = lives.get(change.split(" ")[0] ?? "")?.item.body ?? new Uint8Array();
  return new TextDecoder().decode(body);
}
