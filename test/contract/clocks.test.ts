import { openVirtualClock } from "../../lib/adapters/local/virtual-clock.ts";
import { realClock, steadyClock } from "../../lib/adapters/node/clock.ts";
import { SimulatedClock, SimulatedTime } from "../../lib/adapters/simulated/clock.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { clockContract } from "./clock.contract.ts";

clockContract("the real clock", async () => realClock());
clockContract("the steady clock", async () => steadyClock());
clockContract("the virtual clock", () =>
  openVirtualClock({
    real: realClock(),
    memory: { load: async () => undefined, save: async () => {} },
  }),
);
clockContract("the simulated clock", async () => {
  const time = new SimulatedTime(instantFrom(Date.UTC(2030, 0, 1)));
  return new SimulatedClock({ time, skewMs: -2_000 });
});
