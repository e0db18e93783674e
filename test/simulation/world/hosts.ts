// The hosts of a world, across restarts. With queues in memory there is one, and when it crashes,
// the contents of its queues are lost.

import { SimulatedClock } from "../../../lib/adapters/simulated/clock.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { MANY_PROCESSES, ONE_PROCESS } from "../../../lib/engine/world.ts";
import type { Invocation } from "../../../lib/ports/message.ts";
import type { Store } from "../../../lib/ports/store.ts";
import type { Timers } from "../../../lib/ports/timers.ts";
import type { Actor } from "../actors/actors.ts";
import type { Release } from "../scenarios/scenario.ts";
import { countedIds, createHost, type Host } from "./host.ts";
import { olderStore } from "./older-store.ts";
import { type Backends, busPort, parkingPort, queuesOf, timersPort } from "./ports.ts";
import { type Stage, TENANT } from "./stage.ts";
import { tasksPort } from "./tasks-port.ts";

const FUNCTION_MS = 60_000;
const HOSTS = 3;

/** The hosts that are up, all on the same store and queues. */
export class Hosts {
  readonly #stage: Stage;
  readonly #backends: Backends;
  readonly #ids = countedIds();
  #all: readonly Host[] = [];
  #life = 0;
  #invocations = 0;
  readonly #loops = new Map<string, Actor>();
  #isRecovered = false;
  /** The last release of each host; none: it runs all task types. */
  readonly #released = new Map<number, Release>();

  constructor(stage: Stage, backends: Backends) {
    this.#stage = stage;
    this.#backends = backends;
    const [first] = stage.scenario.releases ?? [];
    if (first) this.#note(first);
  }

  get all(): readonly Host[] {
    return this.#all;
  }

  /**
   * Whether due entries are handled: not before everything that the last process owed is sent
   * again.
   */
  get isRecovered(): boolean {
    return this.#isRecovered;
  }

  /** The one that the current actor runs on, or one of them, by choice. */
  here(): Host {
    const name = this.#stage.actors.current?.hostName;
    return this.#all.find((host) => host.name === name) ?? this.any();
  }

  /** One of them, by choice. */
  any(): Host {
    const host = this.#all[this.#stage.choices.below(this.#all.length)];
    if (host === undefined) throw new Error("there is no host");
    return host;
  }

  /** An engine without gates, to read the world when it rests. */
  observer(): Host {
    return this.#newHost("observer", 0);
  }

  /** An engine on a separate store, which computes the version ids in advance. */
  elsewhere(): Host {
    const timers = { arm: async () => {}, disarm: async () => {} };
    return this.#newHost("elsewhere", 0, 0, new SimulatedStore({}), timers);
  }

  /** Starts the process, or all hosts. The contents of queues in memory are lost. */
  open(): void {
    this.#life += 1;
    this.#stage.runsInLife.clear();
    const { mode, swarm } = this.#stage;
    const skews = [0, -2_000, 2_000].map((skew) => (swarm.rate > 0 ? skew : 0));
    const count = mode === "memory" ? 1 : (this.#stage.scenario.hosts ?? HOSTS);
    this.#all = skews
      .slice(0, count)
      .map((skew, n) => this.#newHost(`host${this.#life}.${n}`, skew, n));
    this.#stage.clockIsAhead(Math.max(...skews));
    const [host] = this.#all;
    this.#isRecovered = mode === "durable" || host === undefined;
    if (mode === "durable" || host === undefined) return;
    // Calls are accepted meanwhile: the server listens first.
    this.#stage.spawn("recover", host, async () => {
      await host.engine.recover();
      this.#isRecovered = true;
    });
  }

  /** The process ends with everything that runs in it, and the next one starts. */
  crashProcess(): void {
    const { actors } = this.#stage;
    for (const actor of [...actors.atWork]) actors.kill(actor);
    for (const [, queue] of queuesOf(this.#backends)) queue.lose();
    this.open();
  }

  /** Replaces hosts by others with other handlers; running invocations continue. */
  release(release: Release): void {
    const { hosts } = release;
    this.#note(release);
    if (this.#stage.mode === "memory") {
      this.crashProcess();
      return;
    }
    this.#life += 1;
    this.#all = this.#all.map((host, n) => {
      if (hosts && !hosts.includes(n)) return host;
      const skewMs = host.clock.now() - this.#stage.now;
      return this.#newHost(`host${this.#life}.${n}`, skewMs, n);
    });
  }

  /** A new invocation of a function on a host. */
  invocation(host: Host, mayContinue: boolean): Invocation {
    const id = `${this.#life}-${++this.#invocations}`;
    // A delivery has an actor of its own, named after it; the due loop runs many invocations.
    const { current } = this.#stage.actors;
    if (current) this.#loops.set(id, current);
    return { id, until: instantFrom(host.clock.now() + FUNCTION_MS), mayContinue };
  }

  #isAtWork(own: string): boolean {
    const { atWork } = this.#stage.actors;
    const loop = this.#loops.get(own);
    return loop ? atWork.has(loop) : [...atWork].some(({ what }) => what.startsWith(`${own} `));
  }

  #note(release: Release): void {
    const { hosts = [...Array(HOSTS).keys()] } = release;
    for (const n of hosts) this.#released.set(n, release);
  }

  /** The last of several may run older code. */
  #storeOf(n: number): Store {
    const { store } = this.#backends;
    return this.#stage.scenario.hasOlderHost && n === HOSTS - 1 ? olderStore(store) : store;
  }

  #newHost(
    name: string,
    skewMs: number,
    n = 0,
    store: Store = this.#storeOf(n),
    timers?: Timers,
  ): Host {
    const stage = this.#stage;
    const { parking, tasks, workQueue, bus, blobs } = this.#backends;
    const { scenario, time, actors } = stage;
    const life = `${this.#life}-`;
    const isMemory = stage.mode === "memory";
    const { runs, engine } = this.#released.get(n) ?? {};
    const turn = () => actors.stop("clock.pause", "before");
    const clock = new SimulatedClock({ time, skewMs, turn });
    return createHost({
      name,
      clock,
      store,
      blobs,
      parking: parkingPort(stage, parking),
      tasks: tasksPort(tasks, runs),
      timers: timers ?? timersPort(stage, this.#backends, clock),
      ids: this.#ids,
      workQueue,
      bus: busPort(stage, bus),
      ...(scenario.ownQueue && !isMemory && { ownQueues: this.#backends.ownQueues }),
      programs: {
        ...scenario,
        ...(engine !== undefined && { engine }),
        ...(scenario.pausesGuests && { pause: () => actors.stop("guest.run", "before") }),
      },
      settings: {
        ...scenario.settings,
        tenant: TENANT,
        retentionMs: 30 * 24 * 3_600_000,
        host: isMemory ? ONE_PROCESS : MANY_PROCESSES,
        ...(isMemory && {
          isDeadOwner: (own: string) =>
            !own.startsWith(life) || (scenario.knowsOwners === true && !this.#isAtWork(own)),
        }),
      },
    });
  }
}
