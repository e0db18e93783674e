import { type BusFault, SimulatedBus } from "../../lib/adapters/simulated/bus.ts";
import { SimulatedClock, SimulatedTime } from "../../lib/adapters/simulated/clock.ts";
import { SimulatedParking } from "../../lib/adapters/simulated/parking.ts";
import type { SimulatedQueue } from "../../lib/adapters/simulated/queue.ts";
import { SimulatedTasks } from "../../lib/adapters/simulated/tasks.ts";
import { SimulatedTimers } from "../../lib/adapters/simulated/timers.ts";
import { SimulatedWorkQueue } from "../../lib/adapters/simulated/work-queue.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Verdict } from "../../lib/ports/message.ts";
import { busContract } from "./bus.contract.ts";
import { parkingContract } from "./parking.contract.ts";
import { tasksContract } from "./tasks.contract.ts";
import { timersContract, whoIs } from "./timers.contract.ts";
import { workQueueContract } from "./work-queue.contract.ts";

tasksContract("the simulated task queue", async (handlers) => {
  const { time, clock } = openTime();
  const tasks = new SimulatedTasks({ clock, handlers });
  const world = eachMessage(time, tasks);
  return { tasks, ...world, now: () => clock.now(), close: async () => {} };
});

tasksContract("the simulated task queue in a world", async (handlers) => {
  const { time, clock } = openTime();
  const tasks = new SimulatedTasks({ clock, handlers, turn: async () => undefined });
  const world = eachMessage(time, tasks);
  return { tasks, ...world, now: () => clock.now(), close: async () => {} };
});

parkingContract("the simulated parking queue", async () => {
  const { time, clock } = openTime();
  const parking = new SimulatedParking({ clock });
  let consumer: Parameters<SimulatedParking["deliverBatch"]>[1] | undefined;
  return {
    parking,
    consume(next) {
      consumer = next;
    },
    pass: (ms) =>
      passing(time, parking, ms, async () => {
        const [batch] = parking.batches();
        if (batch === undefined || consumer === undefined) return false;
        const ids = batch.map(({ id }) => id);
        await parking.deliverBatch(ids, consumer).catch(() => {});
        return true;
      }),
    close: async () => {},
  };
});

workQueueContract("the simulated work queue", async () => {
  const { time, clock } = openTime();
  const work = new SimulatedWorkQueue({ clock });
  return { queue: work, ...eachMessage(time, work), now: () => clock.now(), close: async () => {} };
});

busContract("the simulated bus", async () => {
  const { time, clock } = openTime();
  const work = new SimulatedWorkQueue({ clock });
  const bus = new SimulatedBus({ work });
  return { bus, ...eachMessage(time, work), close: async () => {} };
});

busContract("the simulated bus in a world of faults", async () => {
  const { time, clock } = openTime();
  const work = new SimulatedWorkQueue({ clock });
  let count = 0;
  const bus = new SimulatedBus({
    work,
    turn: async (point) =>
      point === "publish:before" ? busFaults[count++ % busFaults.length] : undefined,
  });
  return { bus, ...eachMessage(time, work), close: async () => {} };
});

timersContract("the simulated timers", async () => {
  const { time, clock } = openTime();
  const timers = new SimulatedTimers({ clock });
  const { consume, pass } = eachMessage(time, timers);
  return {
    timers,
    consume: (woken) =>
      consume(async (message) => {
        await woken(whoIs(message));
        return "release";
      }),
    index: () => {},
    now: () => clock.now(),
    pass,
    close: async () => {},
  };
});

/** Alternates: no publication is spared, and none is refused for ever. */
const busFaults: readonly (BusFault | undefined)[] = [
  { fault: "refused" },
  { fault: "unanswered" },
  { fault: "duplicated" },
  { fault: "delayed", byMs: 20_000 },
  undefined,
];

function openTime() {
  const time = new SimulatedTime(instantFrom(Date.UTC(2030, 0, 1)));
  return { time, clock: new SimulatedClock({ time, skewMs: 2_000 }) };
}

/** A world without faults: delivers what is ready one by one, oldest first. */
function eachMessage<M>(time: SimulatedTime, queue: SimulatedQueue<M>) {
  let consumer: ((message: M) => Promise<Verdict>) | undefined;
  return {
    consume(next: (message: M) => Promise<Verdict>) {
      consumer = next;
    },
    pass: (ms: number) =>
      passing(time, queue, ms, async () => {
        const [next] = queue.ready();
        if (next === undefined || consumer === undefined) return false;
        await queue.deliver(next.id, consumer).catch(() => {});
        return true;
      }),
  };
}

/** Lets time pass, pausing whenever a message becomes visible. */
async function passing<M>(
  time: SimulatedTime,
  queue: SimulatedQueue<M>,
  ms: number,
  deliverOne: () => Promise<boolean>,
): Promise<void> {
  let leftMs = ms;
  for (;;) {
    while (await deliverOne());
    const next = queue.nextVisible();
    const stepMs = next === undefined ? leftMs : Math.min(next - (time.now() + 2_000), leftMs);
    time.pass(stepMs);
    leftMs -= stepMs;
    if (leftMs === 0) break;
  }
  while (await deliverOne());
}
