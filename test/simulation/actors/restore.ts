// A restored store: all actors are gone, and no queue and no schedule knows anything of what is
// stored. Until a full recovery is done, nothing holds what is owed.
import type { Hosts } from "../world/hosts.ts";
import { type Backends, queuesOf } from "../world/ports.ts";
import { type Action, BEGIN, type Stage } from "../world/stage.ts";

/** The restore of a scenario, if it has one; with queues in memory a process that crashes. */
export class Restore {
  readonly #stage: Stage;
  readonly #hosts: Hosts;
  readonly #backends: Backends;

  constructor(stage: Stage, hosts: Hosts, backends: Backends) {
    this.#stage = stage;
    this.#hosts = hosts;
    this.#backends = backends;
  }

  actions(): readonly Action[] {
    const [at] = this.instants();
    if (at === undefined || at > this.#stage.now) return [];
    return [{ label: "the store is restored", act: () => this.#restore() }];
  }

  instants(): readonly number[] {
    const { scenario, restored } = this.#stage;
    if (scenario.restoredAtMs === undefined || restored !== "not yet") return [];
    return [BEGIN + scenario.restoredAtMs];
  }

  #restore(): void {
    this.#stage.restored = "lost";
    this.#backends.scheduler.lose();
    for (const [, queue] of queuesOf(this.#backends)) queue.lose();
    this.#stage.ownQueue?.lose();
    this.#hosts.crashProcess();
  }
}
