// The actors of a simulated world: one per delivery, request, reader or sweep. An actor pauses
// before and after each of its port calls until the world continues it. One that has crashed, or
// has responded, never continues: a frozen sandbox does no work in the background.
import { AsyncLocalStorage } from "node:async_hooks";
import type { StoreFault } from "../../../lib/adapters/simulated/store.ts";
import type { CarriedStart } from "../../../lib/ports/message.ts";

export type Side = "before" | "after";

/** What a world may do to a call that pauses before its work. */
export type Fault =
  | StoreFault
  | Readonly<{ fault: "duplicated" }>
  | Readonly<{ fault: "delayed"; byMs: number }>
  /** Of a timer: it never comes. */
  | Readonly<{ fault: "never" }>
  /** Of the bus: it does not take it, or takes it and does not say so. */
  | Readonly<{ fault: "refused" | "unanswered" }>;

/** A point where an actor pauses. */
export type Gate = {
  /** None: the store's own work, which no crash of a caller stops. */
  readonly actor?: Actor;
  /** Counts the port calls of the whole run, from 1. */
  readonly call: number;
  /** Such as `store.commit`. */
  readonly point: string;
  readonly side: Side;
  /** True time before which nothing continues from here. */
  notBefore: number;
  readonly go: (fault?: Fault) => void;
};

export type Actor = {
  readonly id: string;
  readonly what: string;
  readonly hostName: string;
  readonly carried?: CarriedStart;
  /** Called when it crashes, to notify its waiters. */
  readonly onDeath: () => void;
  state: "at work" | "done" | "dead";
  /** Port calls in progress; it may make several at once. */
  readonly calls: Readonly<{ call: number; point: string }>[];
};

/** All running actors, and where they pause. */
export class Actors {
  readonly gates: Gate[] = [];
  readonly atWork = new Set<Actor>();
  /** The actor that moved last; none: the store by itself. */
  moved: Actor | undefined;
  readonly #current = new AsyncLocalStorage<Actor>();
  #calls = 0;

  get current(): Actor | undefined {
    return this.#current.getStore();
  }

  /** How many port calls have been made. */
  get calls(): number {
    return this.#calls;
  }

  /** Starts an actor; what it throws goes to `onError`. */
  spawn(
    about: Pick<Actor, "id" | "what" | "hostName" | "onDeath" | "carried">,
    work: () => Promise<void>,
    onError: (error: unknown) => void,
  ): void {
    const actor: Actor = { ...about, state: "at work", calls: [] };
    this.atWork.add(actor);
    const over = () => {
      if (actor.state === "at work") actor.state = "done";
      this.atWork.delete(actor);
    };
    this.#current.run(actor, work).then(over, (error) => {
      over();
      onError(error);
    });
  }

  /** Pauses here until the world continues it; without a world it passes at once. */
  stop(point: string, side: Side, notBefore = 0): Promise<Fault | undefined> {
    const actor = this.current;
    if (actor === undefined) return Promise.resolve(undefined);
    if (actor.state !== "at work") return new Promise(() => {});
    const call = side === "before" ? this.#begin(actor, point) : ended(actor, point);
    return this.#stand({ actor, call, point, side, notBefore });
  }

  /** Work of the store itself, which continues whatever happens to the caller. */
  stopStore(point: string): Promise<Fault | undefined> {
    if (this.current === undefined) return Promise.resolve(undefined);
    return this.#stand({ call: 0, point, side: "before", notBefore: 0 });
  }

  leave(gate: Gate, fault?: Fault): void {
    this.gates.splice(this.gates.indexOf(gate), 1);
    this.moved = gate.actor;
    gate.go(fault);
  }

  /** The actor never continues, wherever it pauses. */
  kill(actor: Actor): void {
    actor.state = "dead";
    this.atWork.delete(actor);
    for (let n = this.gates.length - 1; n >= 0; n--) {
      if (this.gates[n]?.actor === actor) this.gates.splice(n, 1);
    }
    actor.onDeath();
  }

  #begin(actor: Actor, point: string): number {
    const call = ++this.#calls;
    actor.calls.push({ call, point });
    return call;
  }

  #stand(gate: Omit<Gate, "go">): Promise<Fault | undefined> {
    return new Promise((go) => {
      this.gates.push({ ...gate, go });
    });
  }
}

function ended({ calls }: Actor, point: string): number {
  const at = calls.findIndex((open) => open.point === point);
  const [ended] = at < 0 ? [] : calls.splice(at, 1);
  return ended?.call ?? 0;
}
