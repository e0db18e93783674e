// The wheel of a world whose timers have no schedules: it turns at each minute that has something
// due. Turns that would find nothing are left out, as after an outage.
import { WHEEL_AHEAD_MS } from "../../../lib/definition/limits.ts";
import type { Hosts } from "../world/hosts.ts";
import { type Action, BEGIN, type Stage } from "../world/stage.ts";

const EVERY_MS = 60_000;

export class WheelTurns {
  readonly #stage: Stage;
  readonly #hosts: Hosts;
  #turnedAt = BEGIN - EVERY_MS;

  constructor(stage: Stage, hosts: Hosts) {
    this.#stage = stage;
    this.#hosts = hosts;
  }

  /** The turn, if it is time; one that takes long does not delay the next. */
  actions(): readonly Action[] {
    const [next] = this.instants();
    if (next === undefined || next > this.#stage.now) return [];
    return [{ label: "wheel", act: () => this.#turn() }];
  }

  instants(): readonly number[] {
    const { scenario, mode, looks } = this.#stage;
    if (scenario.timers !== "wheel" || mode !== "durable" || looks.length === 0) return [];
    const earliest = Math.min(...looks.map(({ lookAt }) => lookAt));
    const inReach = Math.ceil((earliest - WHEEL_AHEAD_MS - EVERY_MS) / EVERY_MS) * EVERY_MS;
    return [Math.max(inReach, this.#turnedAt + EVERY_MS)];
  }

  #turn(): void {
    const host = this.#hosts.any();
    this.#turnedAt = this.#stage.now;
    this.#stage.spawn("wheel", host, async () => {
      await host.engine.turnWheel({ index: 0, of: 1 });
    });
  }
}
