import type { LocalStore } from "../adapters/local/store.ts";
import { openVirtualClock, type VirtualClock } from "../adapters/local/virtual-clock.ts";
import { instantFrom } from "../definition/time/instant.ts";
import type { Clock } from "../ports/clock.ts";

const KEY = { pk: "_#E", sk: "clock" };

/** A virtual clock whose time is kept in the data folder, so that it survives restarts. */
export function openClock(store: LocalStore, real: Clock): Promise<VirtualClock> {
  let version = 0;
  return openVirtualClock({
    real,
    memory: {
      load: async () => {
        const [item] = await store.get([KEY]);
        if (item === undefined) return undefined;
        version = item.version;
        return instantFrom(Number(new TextDecoder().decode(item.body)));
      },
      save: async (now) => {
        version += 1;
        const body = new TextEncoder().encode(String(now));
        await store.commit([{ put: { key: KEY, version, body }, when: "newer" }]);
      },
    },
  });
}
