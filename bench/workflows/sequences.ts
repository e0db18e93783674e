// Workflows in code for the benchmark: the counterparts of processes.ts.
import { event, step, workflow } from "fermata-engine/workflow";

export const one = step("code-step", async (n: number) => ({ n: n + 1 }));

/** Ten tasks in a row that do nothing. */
export const ten = workflow("code-ten", async () => {
  let n = 0;
  while (n < 10) ({ n } = await one(n));
  return n;
});

export const told = step("code-told", async (n: number) => ({
  n: n + 1,
  at: "a result of 30 bytes",
}));

/** As many tasks in a row as asked for, with results that the journal keeps. */
export const tasks = workflow("code-tasks", async ({ count }: { count: number }) => {
  let n = 0;
  while (n < count) ({ n } = await told(n));
  return n;
});

/** Waits for an event that never comes. */
export const waiter = workflow("code-waiter", async () => event("go"));
