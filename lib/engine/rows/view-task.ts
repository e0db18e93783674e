import { formatInstant } from "../../definition/time/instant.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { TaskView } from "../shapes/tasks.ts";
import { idempotencyKeyOf, taskIdOf } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { sound } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { runsHere } from "./open-tickets.ts";
import { viewWork } from "./view-user-task.ts";

/** What those who may do a task see of it. */
export function viewTask(world: World, { instance, program }: Image, task: TaskTicket): TaskView {
  const where = `instance ${instance.id}`;
  const input = sound(where, () => program.runner.taskInput(instance, task));
  const { variables, headers } = input;
  const { definition } = instance;
  return {
    taskId: taskIdOf(instance.id, task.id),
    type: task.type,
    instanceId: instance.id,
    element: task.element,
    definition: { id: definition.id, version: definition.version },
    variables,
    headers,
    attempt: task.attempt,
    retries: task.retries,
    idempotencyKey: idempotencyKeyOf(instance.id, task.id),
    createdAt: formatInstant(task.since),
    runsHere: runsHere(world, task),
    ...viewWork(task, input),
  };
}
