// DBOS, "Workflows" tutorial (durable sleep): a task that runs at a time far ahead.
// Changed: the milliseconds of `DBOS.sleep` get their unit.
import { delay, now, step, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export const runTask = step("reminder-task", async (task: string, context) => did(context, task));

export const runLater = workflow(
  "run-later",
  async ({ task, sleepMs }: { task: string; sleepMs: number }) => {
    const scheduledAt = now();
    await delay(`${sleepMs}ms`);
    await runTask(task);
    return { slept: now().getTime() - scheduledAt.getTime() };
  },
);
