/** What workers and users see of a task. */
import type { Json } from "../../definition/json.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import { DEFAULT_PRIORITY } from "../../definition/user-task.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { TaskInput } from "../../kernel/runner.ts";
import type { WaitView } from "../../shapes/instances.ts";
import type { PersonView, TaskView } from "../../shapes/tasks.ts";
import { idempotencyKeyOf, taskIdOf } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { sound } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { runsHere } from "./open-tickets.ts";

/** What those who may do a task see of it. */
export function viewTask(world: World, image: Image, task: TaskTicket): TaskView {
  const input = inputOf(image, task);
  const { needs = [], form } = input;
  const person = viewPerson(task);
  return {
    ...viewWork(image, task, input),
    createdAt: formatInstant(task.since),
    runsHere: runsHere(world, task),
    ...(person && { ...person, requiredOutputs: needs, ...(form && { form }) }),
  };
}

/** What a worker sees of it. */
export function viewWork({ instance }: Image, task: TaskTicket, input: TaskInput) {
  const { id: instanceId, definition } = instance;
  const { id, type, element, attempt, retries } = task;
  return {
    taskId: taskIdOf(instanceId, id),
    type,
    instanceId,
    element,
    definition: { id: definition.id, version: definition.version },
    variables: input.variables,
    ...(input.input !== undefined && { input: input.input }),
    headers: input.headers,
    attempt,
    retries,
    idempotencyKey: idempotencyKeyOf(instanceId, id),
  };
}

/** What the definition gives a task. */
export const inputOf = ({ instance, program }: Image, task: TaskTicket): TaskInput =>
  sound(`instance ${instance.id}`, () => program.runner.taskInput(instance, task));

/** Who has it, who may have it, until when; nothing for other tasks. */
export function viewPerson({ person }: TaskTicket): PersonView | undefined {
  if (person === undefined) return undefined;
  const { assignee, users = [], groups = [], dueAt, followUpAt, priority } = person;
  return {
    state: assignee === undefined ? "created" : "claimed",
    ...(assignee !== undefined && { assignee }),
    candidateUsers: users,
    candidateGroups: groups,
    ...(dueAt !== undefined && { dueDate: formatInstant(dueAt) }),
    ...(followUpAt !== undefined && { followUpDate: formatInstant(followUpAt) }),
    priority: priority ?? DEFAULT_PRIORITY,
  };
}

/** The calls that move it: a person claims it, or completes it with what it needs. */
export function callsFor(
  task: TaskTicket,
  taskId: string,
  { needs = [], input }: Partial<TaskInput>,
): Pick<WaitView, "claimWith" | "wakeWith"> {
  const { users: [user = "your-name"] = [], assignee } = task.person ?? {};
  const isFree = task.person !== undefined && assignee === undefined;
  const variables: Json = Object.fromEntries(needs.map((name) => [name, null]));
  return {
    ...(isFree && { claimWith: { call: "claimTask", taskId, body: { user } } }),
    wakeWith: {
      call: "completeTask",
      taskId,
      body: input === undefined ? { variables } : { result: null },
    },
  };
}
