import type { SimulatedTasks } from "../../../lib/adapters/simulated/tasks.ts";
import type { Tasks } from "../../../lib/ports/tasks.ts";

/** The tasks of a host with handlers for these types only; without a list all types. */
export function tasksPort(tasks: SimulatedTasks, runs: readonly string[] | undefined): Tasks {
  if (runs === undefined) return tasks;
  return {
    send: (message) => tasks.send(message),
    handlerOf: (type) => (runs.includes(type) ? tasks.handlerOf(type) : undefined),
    types: () => runs,
    holds: (...asked) => tasks.holds(...asked),
    stop: (instanceId, ticket) => tasks.stop(instanceId, ticket),
  };
}
