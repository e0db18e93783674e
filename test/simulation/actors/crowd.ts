// Many waits for one signal. Unlike in the other worlds, invariants are not checked after every
// action: the point is the number. Now and then the delivery of a part of the fan-out crashes
// midway.

import { hash } from "node:crypto";
import { SimulatedBlobs } from "../../../lib/adapters/simulated/blobs.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import { createEngine, type Engine } from "../../../lib/engine/engine.ts";
import { type HostWorld, MANY_PROCESSES } from "../../../lib/engine/world.ts";
import { graphRunner } from "../../../lib/kernel/graph/graph-runner.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import type { Message, Verdict } from "../../../lib/ports/message.ts";
import type { Store } from "../../../lib/ports/store.ts";
import type { ReceiptView } from "../../../lib/shapes/signals.ts";
import { anEnd, aSignalCatch, aStart } from "../../support/graph-builder.ts";
import { graph } from "../scenarios/definitions.ts";
import { compileJson, EXPRESSIONS, sourceOf } from "../world/host.ts";
import { BEGIN, TENANT } from "../world/stage.ts";

export type Crowd = Readonly<{
  waiters: number;
  /** One of this many parts of the fan-out is interrupted; none: nothing crashes. */
  crashEvery?: number;
}>;

/** The outcome. */
export type Told = Readonly<{
  receipt: ReceiptView;
  /** Steps that took the signal, by instance: one each. */
  taken: ReadonlyMap<string, number>;
  ended: number;
  crashes: number;
  rowsLeft: number;
}>;

/** Opens this many waits, broadcasts once, and runs until everything rests. */
export async function tellCrowd({ waiters, crashEvery }: Crowd): Promise<Told> {
  const world = new CrowdWorld(crashEvery);
  const { engine } = world;
  await engine.deploy(
    sourceOf(graph("p", [aStart(), aSignalCatch("wait", "go"), anEnd()], ["start -> wait -> end"])),
  );
  for (let n = 0; n < waiters; n++) {
    await engine.start("p", { instanceId: `waiter-${n}` });
    await world.drain();
  }
  world.mayCrash = true;
  await engine.signal({ name: "go", id: "s1", payload: {} });
  await world.drain();
  return {
    receipt: await engine.receipt("s1"),
    taken: world.taken,
    ended: world.ended.size,
    crashes: world.crashes,
    rowsLeft: world.store.items().filter(({ key }) => /#G#go#\d/.test(key.pk)).length,
  };
}

/** One engine on a store in memory, with a queue that redelivers what was not released. */
class CrowdWorld {
  readonly store = new SimulatedStore({});
  readonly engine: Engine;
  readonly taken = new Map<string, number>();
  readonly ended = new Set<string>();
  mayCrash = false;
  crashes = 0;
  readonly #crashEvery: number | undefined;
  readonly #queued: Message[] = [];
  #head = 0;
  #invocations = 0;
  #fresh = 0;
  #now = BEGIN;
  /** Port calls until the running delivery crashes. */
  #fuse = Number.POSITIVE_INFINITY;
  #blow: () => void = () => {};

  constructor(crashEvery: number | undefined) {
    this.#crashEvery = crashEvery;
    this.engine = createEngine(this.#world());
  }

  async drain(): Promise<void> {
    for (; this.#head < this.#queued.length; this.#head++) {
      const message = this.#queued[this.#head];
      if (message === undefined) continue;
      const verdict = await this.#deliver(message);
      this.#now += verdict === "release" ? 1 : verdict.keepForMs;
      if (verdict !== "release") this.#queued.push(message);
    }
    this.#queued.length = 0;
    this.#head = 0;
  }

  /** A crash counts as a long visibility timeout. */
  async #deliver(message: Message): Promise<Verdict> {
    const id = `crowd-${++this.#invocations}`;
    const until = instantFrom(this.#now + 60_000);
    const isStruck =
      this.mayCrash && this.#crashEvery !== undefined && this.#invocations % this.#crashEvery === 0;
    if (isStruck) this.#fuse = 1 + ((this.#invocations * 37) % 120);
    const death = new Promise<Verdict>((resolve) => {
      this.#blow = () => {
        this.crashes += 1;
        resolve({ keepForMs: 90_000 });
      };
    });
    const verdict = await Promise.race([
      this.engine.handle(message, { id, until, mayContinue: false }),
      death,
    ]);
    // What a crashed delivery still has in progress stops at its next port call.
    if (this.#fuse <= 0) await new Promise((resolve) => setImmediate(resolve));
    this.#fuse = Number.POSITIVE_INFINITY;
    return verdict;
  }

  /** Runs it, unless its actor has crashed: then it never ends. */
  #alive<T>(work: () => Promise<T>): Promise<T> {
    this.#fuse -= 1;
    if (this.#fuse === 0) this.#blow();
    return this.#fuse <= 0 ? new Promise(() => {}) : work();
  }

  #world(): HostWorld {
    const send = async (message: Message): Promise<void> => {
      this.#queued.push(message);
    };
    return {
      store: this.#mortal(this.store),
      blobs: new SimulatedBlobs(),
      parking: { park: send },
      workQueue: { send },
      bus: {
        publish: async ({ tenant, broadcastId }) => {
          await send({ kind: "broadcast", tenant, broadcastId });
          return true;
        },
      },
      tasks: { send, handlerOf: () => undefined, types: () => [], holds: () => false, stop() {} },
      timers: { arm: async () => {}, disarm: async () => {} },
      clock: { now: (): Instant => instantFrom(this.#now), pause: async () => {} },
      ids: {
        fresh: () => `fresh-${++this.#fresh}`,
        digest: (text) => hash("sha256", text, "buffer").subarray(0, 16).toString("base64url"),
      },
      expressions: EXPRESSIONS,
      compilers: { bpmn: compileJson },
      runners: { graph: graphRunner },
      settings: { tenant: TENANT, retentionMs: 30 * 86_400_000, host: MANY_PROCESSES },
      onCommitted: (instance, before) => this.#committed(instance, before),
    };
  }

  #mortal(store: Store): Store {
    return {
      get: (keys, how) => this.#alive(() => store.get(keys, how)),
      commit: (writes) => this.#alive(() => store.commit(writes)),
      scan: (pk, range) => this.#alive(() => store.scan(pk, range)),
      due: (until, slice, after, from) => this.#alive(() => store.due(until, slice, after, from)),
      list: (view, range) => this.#alive(() => store.list(view, range)),
      tidy: (hints) => this.#alive(() => store.tidy(hints)),
      close: () => store.close(),
    };
  }

  #committed({ id, tickets, status }: Instance, before: Instance | undefined): void {
    const waited = before?.tickets.some(({ on }) => on === "signal") === true;
    if (waited && !tickets.some(({ on }) => on === "signal")) {
      this.taken.set(id, (this.taken.get(id) ?? 0) + 1);
    }
    if (status === "succeeded") this.ended.add(id);
  }
}
