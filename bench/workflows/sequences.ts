// Workflows in code for the benchmark: the counterparts of processes.ts.
import { event, step, workflow } from "fermata-engine/workflow";

export const one = step("code-step", async (n: number) => ({
  n: n + 1,
  at: "a result of 30 bytes",
}));

/** As many tasks in a row as asked for. */
export const tasks = workflow("code-tasks", async ({ count }: { count: number }) => {
  let n = 0;
  while (n < count) ({ n } = await one(n));
  return n;
});

/** Waits for an event that never comes. */
export const waiter = workflow("code-waiter", async () => event("go"));
