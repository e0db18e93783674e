// Instances that wait for a timer, on an engine whose queues are lists: for tests of sweep and
// wheel.
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { instanceKey } from "../../lib/engine/storage/keys.ts";
import type { World } from "../../lib/engine/world.ts";
import type { Store } from "../../lib/ports/store.ts";
import type { ArmedTimer } from "../../lib/ports/timers.ts";
import { catching, end, file, flow, process, start, timer } from "./bpmn-xml.ts";
import { aPlainWorld, type PlainWorld } from "./plain-world.ts";

export type TimerWorld = PlainWorld &
  Readonly<{
    store: Store;
    /** Every timer that was armed, and not taken since. */
    armed: ArmedTimer[];
    troubles: string[];
    /** Lets instances of these ids wait for the duration; what arms their timers is lost. */
    wait(duration: string, ...ids: readonly string[]): Promise<void>;
  }>;

export const EVERYTHING = { index: 0, of: 1 } as const;
export const MINUTE = 60_000;

/** `refuses` says which timers cannot be armed. */
export function aTimerWorld({
  refuses = () => false,
  store = new SimulatedStore({}),
  ...others
}: {
  refuses?: (timer: ArmedTimer) => boolean;
  store?: Store;
} & Partial<Pick<World, "bus">> = {}): TimerWorld {
  const armed: ArmedTimer[] = [];
  const troubles: string[] = [];
  const world = aPlainWorld({
    ...others,
    store,
    timers: {
      arm: async (timer) => {
        if (!("instanceId" in timer)) return;
        if (refuses(timer)) throw new Error("the queue refuses");
        armed.push(timer);
      },
      disarm: async () => {},
    },
    onTrouble: (about) => void troubles.push(about),
  });
  const wait = async (duration: string, ...ids: readonly string[]) => {
    const definition = `waits-${duration.toLowerCase()}`;
    await world.engine.deploy({ notation: "bpmn", source: waiting(definition, duration) });
    for (const instanceId of ids) await world.engine.start(definition, { instanceId });
    await world.drain();
    armed.length = 0;
  };
  return { ...world, store, armed, troubles, wait };
}

/** Puts copies of an instance beside it, under their own ids. */
export async function multiply(store: Store, instanceId: string, count: number): Promise<void> {
  const [item] = await store.get([instanceKey("default", instanceId)]);
  if (item === undefined) throw new Error(`there is no instance ${instanceId}`);
  for (let n = 1; n < count; n++) {
    const key = instanceKey("default", `${instanceId}-${n}`);
    await store.commit([{ put: { ...item, key }, when: "absent" }]);
  }
}

/** Makes an instance unreadable. */
export async function spoil(store: Store, instanceId: string): Promise<void> {
  const [item] = await store.get([instanceKey("default", instanceId)]);
  if (item === undefined) throw new Error(`there is no instance ${instanceId}`);
  const body = new TextEncoder().encode("?");
  const put = { ...item, version: item.version + 1, body };
  await store.commit([{ put, when: { version: item.version } }]);
}

/** Lets this many ms pass. */
export const pass = (world: PlainWorld, ms: number): void =>
  world.moveTo(instantFrom(world.now() + ms));

/** The instances whose timers were armed, in the order of their names; the list is cleared. */
export function takeArmed({ armed }: TimerWorld): readonly string[] {
  return armed
    .splice(0)
    .map(({ instanceId }) => instanceId)
    .toSorted();
}

const waiting = (id: string, duration: string) =>
  file(
    process(
      start(),
      catching("pause", timer("timeDuration", duration)),
      end(),
      flow("f1", "start", "pause"),
      flow("f2", "pause", "end"),
    ).replace('id="p"', `id="${id}"`),
  );
