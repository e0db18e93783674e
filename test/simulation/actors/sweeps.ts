// Handles what is due. Durable: a sweep each minute. In memory: the loop over the due index.
import type { Key } from "../../../lib/ports/store.ts";
import type { Host } from "../world/host.ts";
import type { Hosts } from "../world/hosts.ts";
import { type Action, BEGIN, type Stage } from "../world/stage.ts";

const EVERY_MS = 60_000;
const OVERDUE_MS = 60_000;
const LOOP_PAUSE_MS = 50;

/** The sweep of a world; the loop never runs twice at a time. */
export class Sweeps {
  readonly #stage: Stage;
  readonly #hosts: Hosts;
  readonly #isMemory: boolean;
  #isSweeping = false;
  #sweptAt = BEGIN;

  constructor(stage: Stage, hosts: Hosts) {
    this.#stage = stage;
    this.#hosts = hosts;
    this.#isMemory = stage.mode === "memory";
  }

  /** The sweep, if it can run now. */
  actions(): readonly Action[] {
    const [host] = this.#hosts.all;
    const [next] = this.instants();
    if (host === undefined || !this.#hosts.isRecovered) return [];
    if (next === undefined || next > this.#stage.now) return [];
    return [{ label: this.#name, act: () => this.#sweep(host) }];
  }

  /** True time of the next sweep; none while nothing is due later. */
  instants(): readonly number[] {
    const [host] = this.#hosts.all;
    if (host === undefined || this.#isSweeping) return [];
    // Instant 0 is for recoveries alone: the queues of this process hold what is owed there.
    const looks = this.#stage.looks.flatMap(({ lookAt }) => (lookAt > 0 ? [lookAt] : []));
    if (looks.length === 0) return [];
    const aheadMs = host.clock.now() - this.#stage.now;
    const earliest = Math.min(...looks) - aheadMs;
    if (this.#isMemory) return [Math.max(earliest, this.#sweptAt)];
    return [onTheMinute(Math.max(earliest + OVERDUE_MS, this.#sweptAt + 1))];
  }

  get #name(): string {
    return this.#isMemory ? "due loop" : "sweep";
  }

  /** On AWS a sweep that takes long, or crashes, does not delay the next one. */
  #sweep(host: Host): void {
    if (!this.#isMemory) {
      this.#sweptAt = this.#stage.now;
      this.#stage.spawn(this.#name, host, () => this.#lookAtDue(host));
      return;
    }
    this.#isSweeping = true;
    const over = () => {
      this.#isSweeping = false;
      this.#sweptAt = this.#stage.now + LOOP_PAUSE_MS;
    };
    const work = async () => {
      await this.#lookAtDue(host);
      over();
    };
    this.#stage.spawn(this.#name, host, work, { onDeath: over });
  }

  async #lookAtDue(host: Host): Promise<void> {
    if (!this.#isMemory) {
      await host.engine.sweep(EVERYTHING);
      return;
    }
    const page = await host.world.store.due(host.clock.now(), EVERYTHING);
    for (const key of page.items) {
      if (this.#lookAtOf(key) === 0) continue;
      await host.engine.wake(key, this.#hosts.invocation(host, false));
    }
  }

  #lookAtOf({ pk, sk }: Key): number | undefined {
    return this.#stage.looks.find(({ key }) => key.pk === pk && key.sk === sk)?.lookAt;
  }
}

const EVERYTHING = { index: 0, of: 1 } as const;

/** A rule fires each minute, at its own second. */
const onTheMinute = (ms: number): number =>
  Math.ceil((ms - SECOND_MS) / EVERY_MS) * EVERY_MS + SECOND_MS;
const SECOND_MS = 37_000;
