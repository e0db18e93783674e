/**
 * Users take tasks and give them back. Who has a task is a fact of its instance: of two users who
 * claim it at once one gets it, and the answer to the other says who has it.
 */
import type { TaskAssigned } from "../../kernel/fact.ts";
import type { Assignment } from "../../kernel/instance.ts";
import { turnOf } from "../../kernel/user-task.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { IdempotencyKey } from "../../shapes/paging.ts";
import type { ClaimRequest } from "../../shapes/tasks.ts";
import { turnName } from "../storage/names.ts";
import { handleTaskRequest } from "../workers/task-calls.ts";
import type { World } from "../world.ts";
import { claimed } from "./check-completion.ts";

/** Gives a free task to this user; repeated by the same user it changes nothing. */
export async function claimTask(
  world: World,
  taskId: string,
  { user, groups }: ClaimRequest,
  key?: IdempotencyKey,
): Promise<{ claimed: true }> {
  await turn(world, taskId, { action: "claim", user, key }, (person) => {
    if (person.assignee === user) return undefined;
    if (person.assignee !== undefined) throw claimed(taskId, person.assignee);
    if (!mayClaim(person, user, groups)) throw notACandidate(taskId, user);
    return { assignee: user };
  });
  return { claimed: true };
}

/** Gives it back; a task that is free does not change. */
export async function unclaimTask(
  world: World,
  taskId: string,
  { user }: Readonly<{ user: string }>,
  key?: IdempotencyKey,
): Promise<{ unclaimed: true }> {
  await turn(world, taskId, { action: "unclaim", user, key }, ({ assignee }) => {
    if (assignee === undefined) return undefined;
    if (assignee !== user) throw claimed(taskId, assignee);
    return {};
  });
  return { unclaimed: true };
}

type Turn = Readonly<{ action: string; user: string; key: IdempotencyKey | undefined }>;

/** Lets a task change hands as `next` says for it as it stands; undefined: it stays as it is. */
const turn = (
  world: World,
  taskId: string,
  { action, user, key }: Turn,
  next: (person: Assignment) => Pick<TaskAssigned, "assignee"> | undefined,
): Promise<void> =>
  handleTaskRequest<TaskAssigned>(world, taskId, {
    key,
    body: [action, taskId, user],
    factFor: (task) => {
      const inTurn = turnOf(task);
      if (task.person === undefined || inTurn === undefined)
        throw new EngineError("task/not-for-people", { where: `task ${taskId}` });
      const to = next(task.person);
      return to && { kind: "task-assigned", ticket: task.id, turn: inTurn, ...to };
    },
    nameFor: (fact) => turnName(fact.ticket, fact.turn),
  });

/**
 * A user whom the model names may; so may a member of a group that it names. Who is in a group the
 * engine does not know: a caller that does not say it answers for it.
 */
function mayClaim({ users = [], groups = [] }: Assignment, user: string, isIn?: readonly string[]) {
  if (users.length + groups.length === 0 || users.includes(user)) return true;
  return groups.length > 0 && (isIn === undefined || groups.some((group) => isIn.includes(group)));
}

const notACandidate = (taskId: string, user: string): EngineError =>
  new EngineError("task/not-a-candidate", {
    happened: `${user} is not among those whom the model names for the task`,
    where: `task ${taskId}`,
    fix: "Let a candidate claim it, or say in `groups` which of its groups the user is in.",
  });
