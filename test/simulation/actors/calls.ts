// The calls of outside callers: one after the other, and repeated without a response.
import { EngineError } from "../../../lib/ports/engine-error.ts";
import { stable } from "../checks/oracle.ts";
import type { Answer, Call, Caller, Desk } from "../scenarios/scenario.ts";
import type { Host } from "../world/host.ts";
import type { Hosts } from "../world/hosts.ts";
import { type Action, BEGIN, type Stage } from "../world/stage.ts";

/** The progress of every caller of a run. */
export class Calls {
  readonly #stage: Stage;
  readonly #hosts: Hosts;
  readonly #callers: readonly CallerState[];

  constructor(stage: Stage, hosts: Hosts) {
    this.#stage = stage;
    this.#hosts = hosts;
    this.#callers = stage.scenario
      .callers()
      .map((caller) => ({ caller, next: 0, state: "ready", at: 0, tries: 0 }));
  }

  /** The calls that can be made now. */
  actions(): readonly Action[] {
    return this.#waiting()
      .filter(({ readyAt }) => readyAt <= this.#stage.now)
      .map(({ state, call }) => ({
        label: `${state.caller.name} calls ${call.name}`,
        act: () => this.#make(state, call),
      }));
  }

  /** The earliest time at which the pending calls can be made. */
  instants(): readonly number[] {
    return this.#waiting().map(({ readyAt }) => readyAt);
  }

  #waiting() {
    return this.#callers.flatMap((state) => {
      const call = state.caller.calls[state.next];
      if (call === undefined || state.state === "calling") return [];
      return [{ state, call, readyAt: Math.max(state.at, BEGIN + (call.atMs ?? 0)) }];
    });
  }

  #make(state: CallerState, call: Call): void {
    const stage = this.#stage;
    const host = this.#hosts.any();
    const { name } = state.caller;
    state.state = "calling";
    const later = () => {
      state.state = "ready";
      state.at = stage.now + Math.min(1_000 * 2 ** state.tries, 300_000);
      state.tries += 1;
    };
    const work = async () => {
      const answer = await answerOf(() => call.make(deskOf(stage, host)));
      if (answer === "again later") return later();
      const problem = call.judge?.(answer);
      if (problem !== undefined) stage.demand(false, `${name}: ${problem}`);
      if (answer.kind === "started") stage.acknowledged.add(answer.instanceId);
      stage.trace.push(`  ${name} hears ${stable(answer)}`);
      state.state = "ready";
      state.next += 1;
      state.tries = 0;
    };
    stage.spawn(`${name} ${call.name}`, host, work, { onDeath: later });
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

export function deskOf(stage: Stage, { engine }: Host): Desk {
  const { traffic, invariants } = stage;
  return {
    engine,
    restore: {
      state: () => stage.restored,
      over: () => {
        stage.restored = "recovered";
      },
    },
    ownQueue: {
      ready: () => (stage.ownQueue?.ready() ?? []).map(({ id, message: text }) => ({ id, text })),
      release: (id) => stage.ownQueue?.lose((queued) => queued.id === id),
    },
    sends: (message) => traffic.noteSent(message, stage.now),
    sendsTo: (event) => void traffic.targeted.push(event),
    waiting: (on, name) =>
      [...invariants.lives.values()]
        .flatMap(({ instance }) => instance.tickets)
        .filter((ticket) => ticket.on === on && "name" in ticket && ticket.name === name).length,
    brings: (instanceId, fact) => stage.brings(instanceId, fact),
    never: (instanceId, ticket) => void stage.refused.push({ instanceId, ticket }),
    committedEntries: (instanceId) =>
      (stage.invariants.lives.get(instanceId)?.instance.trail.next ?? 1) - 1,
  };
}

async function answerOf(make: () => ReturnType<Call["make"]>): Promise<Answer | "again later"> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.retryable ? "again later" : { kind: "refused", code: error.code };
  }
}
