// Releases: the hosts of a world are replaced by others with handlers for other task types. With
// durable queues, running invocations continue with their code; with one process, it crashes and
// starts again.
import { offersPk } from "../../../lib/engine/storage/keys.ts";
import type { Release } from "../scenarios/scenario.ts";
import type { Hosts } from "../world/hosts.ts";
import type { Backends } from "../world/ports.ts";
import { type Action, BEGIN, type Stage, TENANT } from "../world/stage.ts";

/** The releases of a scenario, one after the other; the first applies from the beginning. */
export class Releases {
  readonly #stage: Stage;
  readonly #hosts: Hosts;
  #next = 1;

  constructor(stage: Stage, hosts: Hosts) {
    this.#stage = stage;
    this.#hosts = hosts;
  }

  actions(): readonly Action[] {
    const release = this.#ahead();
    if (release === undefined || BEGIN + release.atMs > this.#stage.now) return [];
    return [{ label: `release of ${release.runs.join(", ")}`, act: () => this.#make(release) }];
  }

  instants(): readonly number[] {
    const release = this.#ahead();
    return release ? [BEGIN + release.atMs] : [];
  }

  #make(release: Release): void {
    this.#next += 1;
    this.#hosts.release(release);
  }

  #ahead(): Release | undefined {
    return this.#stage.scenario.releases?.[this.#next];
  }
}

const EVERY_MS = 60_000;

/** Each minute tasks that were offered to workers are adopted or queued, if they can be by now. */
export class Adoptions {
  readonly #stage: Stage;
  readonly #hosts: Hosts;
  readonly #backends: Backends;
  #lookedAt = BEGIN;

  constructor(stage: Stage, hosts: Hosts, backends: Backends) {
    this.#stage = stage;
    this.#hosts = hosts;
    this.#backends = backends;
  }

  actions(): readonly Action[] {
    const [next] = this.instants();
    if (next === undefined || next > this.#stage.now) return [];
    return [{ label: "adoption", act: () => this.#adopt() }];
  }

  /** With queues in memory the recovery of the next process does it. */
  instants(): readonly number[] {
    const { mode, scenario } = this.#stage;
    if (mode === "memory" || !(scenario.releases || scenario.ownQueue)) return [];
    const rows = new Set(this.#backends.store.items().map(({ key }) => key.pk));
    const types = this.#hosts.all.flatMap(({ world }) => world.tasks.types());
    const others = scenario.ownQueue ? this.#outside() : [];
    const isAny = [...types, ...others].some((type) => rows.has(offersPk(TENANT, type, 0)));
    return isAny ? [this.#lookedAt + EVERY_MS] : [];
  }

  /** Types without a handler: their tasks may be moved into a queue. */
  #outside(): readonly string[] {
    return [...this.#stage.invariants.lives.values()].flatMap(({ taskTypes }) => [
      ...taskTypes.values(),
    ]);
  }

  #adopt(): void {
    this.#lookedAt = this.#stage.now;
    const host = this.#hosts.any();
    this.#stage.spawn("adoption", host, async () => void (await host.engine.adopt()));
  }
}
