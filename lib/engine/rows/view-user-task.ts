/** What readers see of a task that a person does. */
import type { Json } from "../../definition/json.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import { DEFAULT_PRIORITY } from "../../definition/user-task.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { TaskInput } from "../../kernel/runner.ts";
import type { WaitView } from "../shapes/instances.ts";
import type { PersonView, TaskView } from "../shapes/tasks.ts";

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

/** The same with what the definition adds: what it takes to complete it. */
export function viewWork(
  task: TaskTicket,
  { needs = [], form }: TaskInput,
): Partial<PersonView> & Pick<TaskView, "requiredOutputs" | "form"> {
  const person = viewPerson(task);
  return person ? { ...person, requiredOutputs: needs, ...(form && { form }) } : {};
}

/** The calls that move it: a person claims it, or completes it with what it needs. */
export function callsFor(
  task: TaskTicket,
  taskId: string,
  { needs = [] }: Pick<TaskInput, "needs">,
): Pick<WaitView, "claimWith" | "wakeWith"> {
  const { users: [user = "your-name"] = [], assignee } = task.person ?? {};
  const isFree = task.person !== undefined && assignee === undefined;
  const variables: Json = Object.fromEntries(needs.map((name) => [name, null]));
  return {
    ...(isFree && { claimWith: { call: "claimTask", taskId, body: { user } } }),
    wakeWith: { call: "completeTask", taskId, body: { variables } },
  };
}
