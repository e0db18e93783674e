import { instanceOfKey, openTestQueues } from "../support/local-queues.ts";
import { busContract } from "./bus.contract.ts";
import { parkingContract } from "./parking.contract.ts";
import { tasksContract } from "./tasks.contract.ts";
import { timersContract } from "./timers.contract.ts";
import { workQueueContract } from "./work-queue.contract.ts";

tasksContract("the local task queue", async (handlers) => {
  const { queues, time } = openTestQueues({ handlers });
  return {
    tasks: queues.tasks,
    consume: (consumer) => queues.tasks.consume(consumer),
    now: () => time.now(),
    pass: (ms) => time.pass(ms),
    close: async () => void (await queues.close({ graceMs: 0 })),
  };
});

parkingContract("the local parking queue", async () => {
  const { queues, time } = openTestQueues();
  return {
    parking: queues.parking,
    consume: (consumer) => queues.parking.consume(consumer),
    pass: (ms) => time.pass(ms),
    close: async () => void (await queues.close({ graceMs: 0 })),
  };
});

workQueueContract("the local work queue", async () => {
  const { queues, time } = openTestQueues({ workAtOnce: 32 }); // all that the suite sends together
  return {
    queue: queues.work,
    consume: (consumer) => queues.work.consume(consumer),
    now: () => time.steady.now(),
    pass: (ms) => time.pass(ms),
    close: async () => void (await queues.close({ graceMs: 0 })),
  };
});

for (const onAnnouncement of [undefined, () => {}]) {
  const listener = onAnnouncement ? "with a listener" : "without one";
  busContract(`the local bus ${listener}`, async () => {
    const { queues, time } = openTestQueues({ ...(onAnnouncement && { onAnnouncement }) });
    return {
      bus: queues.bus,
      consume: (consumer) => queues.work.consume(consumer),
      pass: (ms) => time.pass(ms),
      close: async () => void (await queues.close({ graceMs: 0 })),
    };
  });
}

timersContract("the local timers", async () => {
  const { queues, time, index } = openTestQueues();
  return {
    timers: queues.timers,
    consume: (woken) =>
      queues.timers.consume({
        async onDue(key) {
          await woken(instanceOfKey(key));
          return 1;
        },
        async onTimer({ instanceId }) {
          await woken(instanceId);
          return "release";
        },
      }),
    index: (instanceId, dueAt) => index.set(instanceId, dueAt),
    now: () => time.now(),
    pass: (ms) => time.pass(ms),
    close: async () => void (await queues.close({ graceMs: 0 })),
  };
});
