import type { HandlerRuns } from "../../lib/adapters/handlers/handler-runs.ts";
import { handlersFrom } from "../../lib/adapters/handlers/task-handlers.ts";
import { parseTaskResult } from "../../lib/adapters/handlers/task-result.ts";
import { lambdaHandler } from "../../lib/adapters/lambda/handler.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";
import type { TaskHandler } from "../../lib/ports/tasks.ts";
import { taskClient } from "../aws-clients.ts";
import { type TaskManifest, VARIABLES } from "../settings.ts";

export type TaskSources = Readonly<{
  manifest: TaskManifest;
  /** The users' bundled handlers, by type. */
  bundled: Readonly<Record<string, unknown>>;
  /** ARNs that are known only at deployment, by type. */
  arns: Readonly<Record<string, string>>;
  /** Built-in handlers; the installation's own handlers replace them. */
  builtIn: ReadonlyMap<string, TaskHandler>;
  runs: HandlerRuns;
  clock: Clock;
}>;

/** All handlers of this installation, wherever their code is. */
export function taskHandlers({
  manifest,
  bundled,
  arns,
  builtIn,
  runs,
  clock,
}: TaskSources): ReadonlyMap<string, TaskHandler> {
  const elsewhere = Object.entries(manifest).filter(([, { arn }]) => arn !== undefined);
  const here = [...builtIn, ...handlersFrom(bundled, runs)];
  if (elsewhere.length === 0) return new Map(here);
  const client = taskClient();
  return new Map([
    ...here,
    ...elsewhere.map(([type, declared]): [string, TaskHandler] => {
      const arn = declared.arn || arns[type];
      if (arn === undefined) throw unknownArn(type);
      return [type, lambdaHandler({ client, arn, declared, parseResult: parseTaskResult, clock })];
    }),
  ]);
}

function unknownArn(type: string): EngineError {
  return new EngineError("engine/misconfigured", {
    happened: "No function is configured for a task",
    where: `task ${type}; ${VARIABLES.taskArns}`,
    fix: "Deploy it with the construct, which sets every variable that it needs.",
  });
}
