/** What a person's completion of a task must bring, and who may not make it. */
import type { Variables } from "../../definition/json.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import { EngineError } from "../../ports/engine-error.ts";

/** Throws unless the task, if a person does it, may be completed so. */
export function checkCompletion(
  program: Program,
  instance: Instance,
  task: TaskTicket,
  { taskId, variables, user }: Readonly<{ taskId: string; variables: Variables; user?: string }>,
): void {
  const { assignee } = task.person ?? {};
  if (user !== undefined && assignee !== undefined && assignee !== user) {
    throw claimed(taskId, assignee);
  }
  if (task.person === undefined) return;
  const { needs = [] } = program.runner.taskInput(instance, task);
  const missing = needs.filter((name) => !Object.hasOwn(variables, name));
  if (missing.length > 0) throw outputsMissing(taskId, missing);
}

/** Another user has it. */
export const claimed = (taskId: string, assignee: string): EngineError =>
  new EngineError("task/claimed", {
    happened: `The task is ${assignee}'s`,
    where: `task ${taskId}`,
    fix: `Leave it to them, or let them give it back: POST /v1/tasks/${taskId}/unclaim.`,
  });

const outputsMissing = (taskId: string, missing: readonly string[]): EngineError =>
  new EngineError("task/outputs-missing", {
    happened: `The task cannot be completed without ${missing.join(", ")}`,
    where: `task ${taskId}`,
    fix: "Send them as variables; the task is still open and nothing was changed.",
    details: missing.map((name) => ({ path: `variables.${name}`, message: "is missing" })),
  });
