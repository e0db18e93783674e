// Looks at what is due. Durable: each minute somebody looks what is overdue. In memory: the loop
// over what is due.
import type { SimulatedTimers } from "../../lib/adapters/simulated/timers.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { instanceIdOf } from "../../lib/engine/keys.ts";
import type { Host } from "./host.ts";
import type { Hosts } from "./hosts.ts";
import { type Action, BEGIN, type Stage, TENANT } from "./stage.ts";

const EVERY_MS = 60_000;
const OVERDUE_MS = 60_000;
const LOOP_PAUSE_MS = 50;

/** The sweep of a world; never two at a time. */
export class Sweeps {
  readonly #stage: Stage;
  readonly #hosts: Hosts;
  readonly #timers: SimulatedTimers;
  readonly #isMemory: boolean;
  #isSweeping = false;
  #sweptAt = BEGIN;

  constructor(stage: Stage, hosts: Hosts, timers: SimulatedTimers) {
    this.#stage = stage;
    this.#hosts = hosts;
    this.#timers = timers;
    this.#isMemory = stage.mode === "memory";
  }

  /** The sweep, if it can be made now. */
  actions(): readonly Action[] {
    const [host] = this.#hosts.all;
    const [next] = this.instants();
    if (host === undefined || !this.#hosts.isOpen) return [];
    if (next === undefined || next > this.#stage.now) return [];
    return [{ label: this.#name, act: () => this.#sweep(host) }];
  }

  /** True time of the next look; none while nothing has to be looked at. */
  instants(): readonly number[] {
    const [host] = this.#hosts.all;
    if (host === undefined || this.#isSweeping) return [];
    const looks = [...this.#stage.invariants.lives.values()].flatMap(({ item: { lookAt } }) =>
      lookAt !== undefined && lookAt > 0 ? [lookAt] : [],
    );
    if (looks.length === 0) return [];
    const aheadMs = host.clock.now() - this.#stage.now;
    const earliest = Math.min(...looks) - aheadMs;
    if (this.#isMemory) return [Math.max(earliest, this.#sweptAt)];
    return [Math.max(earliest + OVERDUE_MS, this.#sweptAt + EVERY_MS)];
  }

  get #name(): string {
    return this.#isMemory ? "due loop" : "sweep";
  }

  #sweep(host: Host): void {
    this.#isSweeping = true;
    const over = () => {
      this.#isSweeping = false;
      this.#sweptAt = this.#stage.now + (this.#isMemory ? LOOP_PAUSE_MS : 0);
    };
    const work = async () => {
      await this.#lookAtDue(host);
      over();
    };
    this.#stage.spawn(this.#name, host, work, { onDeath: over });
  }

  async #lookAtDue(host: Host): Promise<void> {
    const { lives } = this.#stage.invariants;
    const until = instantFrom(host.clock.now() - (this.#isMemory ? 0 : OVERDUE_MS));
    const page = await host.world.store.due(until, { index: 0, of: 1 });
    for (const key of page.items) {
      const instanceId = instanceIdOf(key);
      const life = instanceId === undefined ? undefined : lives.get(instanceId);
      if (instanceId === undefined || life === undefined || life.item.lookAt === 0) continue;
      if (this.#isMemory) await host.engine.wake(instanceId, this.#hosts.invocation(host, false));
      else await this.#sendDue(host, instanceId);
    }
  }

  async #sendDue(host: Host, instanceId: string): Promise<void> {
    await this.#stage.actors.stop("store.get", "before");
    const life = this.#stage.invariants.lives.get(instanceId);
    const now = host.clock.now();
    for (const ticket of life?.instance.tickets ?? []) {
      if (ticket.on !== "timer" || ticket.dueAt > now) continue;
      await this.#timers.send({ kind: "timer", tenant: TENANT, instanceId, ticket: ticket.id });
    }
  }
}
