// Temporal, "Durable Timers" (racing timers) and samples-typescript "timer-examples": a mail says that an
// order takes longer, and the order goes on. Changed: a worker outside processes it. `Promise.race` stays,
// because `race` would withdraw the task.
import { delay, step, task, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export const sendNotification = step("slow-order-mail", async (order: string, context) =>
  did(context, `mail: ${order} takes longer`),
);

export const processOrder = workflow(
  "process-order",
  async ({ order, patience }: { order: string; patience: string }) => {
    const processed = task<string>("process-order", order);
    const first = await Promise.race([
      processed.then(() => "processed"),
      delay(patience).then(() => "late"),
    ]);
    if (first === "late") await sendNotification(order);
    return `${order} processed by ${await processed}`;
  },
);
