// DBOS, "Queues & Concurrency" tutorial: many tasks at once, but only a few at the same time.
// Changed: a task is a step and not a workflow on a queue; the limit is a number of loops that share a list.
import { setTimeout as pause } from "node:timers/promises";
import { all, BusinessError, step, TaskFailed, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export const processTask = step("queue-task", async (task: string, context) => {
  did(context, `begin ${task}`);
  await pause(5);
  did(context, `end ${task}`);
  if (task.startsWith("broken")) throw new BusinessError("BROKEN", `${task} cannot be processed`);
  return task.toUpperCase();
});

export const processAll = workflow(
  "process-all",
  async ({ tasks, atOnce }: { tasks: string[]; atOnce: number }) => {
    const waiting = [...tasks.entries()];
    const results: string[] = [];
    const takeNext = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, task] = next;
        results[index] = await resultOf(task);
      }
    };
    await all(Array.from({ length: atOnce }, takeNext));
    return results;
  },
);

async function resultOf(task: string): Promise<string> {
  try {
    return await processTask(task);
  } catch (error) {
    if (error instanceof TaskFailed) return `${error.code}`;
    throw error;
  }
}
