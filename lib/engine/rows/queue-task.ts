/**
 * Queues of the user's own: a task goes there as a poll would answer it, without a lock and without
 * a row. What the queue cannot hold gets a row like every other task: what is due later than a
 * queue can hold back, what is too long, and what the queue refuses. None of it is lost, and what
 * can be moved later is, when tasks are adopted.
 */
import { MAX_OWN_QUEUE_BYTES, MAX_QUEUE_DELAY_MS } from "../../definition/limits.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Item } from "../../ports/store.ts";
import type { ActivatedTask } from "../../shapes/tasks.ts";
import { timeOfRow } from "../storage/keys.ts";
import { loadProgram } from "../storage/programs.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { parseOffer, rowStateOf } from "./task-row.ts";
import type { TaskType } from "./task-type.ts";
import { viewTask } from "./view-task.ts";

export const isQueued = (world: World, { queueArn }: TaskType): boolean =>
  world.ownQueues !== undefined && queueArn !== undefined;

/** Whether the task is in its queue now; false: it needs a row. */
export async function queueTask(
  world: World,
  instance: Instance,
  task: TaskTicket,
  { queueArn = "" }: TaskType,
): Promise<boolean> {
  const delayMs = Math.max(0, (task.notBefore ?? 0) - world.clock.now());
  if (world.ownQueues === undefined || delayMs > MAX_QUEUE_DELAY_MS) return false;
  const program = await loadProgram(world, instance.definition);
  const { createdAt: _, runsHere: __, ...shown } = viewTask(world, { instance, program }, task);
  const body = JSON.stringify(shown satisfies Omit<ActivatedTask, "lockToken" | "lockedUntil">);
  const where = `task ${task.id} of instance ${instance.id} was not put into ${queueArn}`;
  const bytes = Buffer.byteLength(body);
  if (bytes > MAX_OWN_QUEUE_BYTES) {
    const limit = `it takes ${bytes} bytes, ${MAX_OWN_QUEUE_BYTES} is the limit`;
    world.onTrouble?.(`${where}: poll for it instead`, new Error(limit));
    return false;
  }
  if ((await world.ownQueues.send(queueArn, body, delayMs)) === "sent") return true;
  world.onTrouble?.(`${where}: poll for it instead`, new Error("the queue refused it"));
  return false;
}

/** Moves the task that a row names into the queue, unless a worker has it; says whether it did. */
export async function moveToQueue(world: World, row: Item, type: TaskType): Promise<boolean> {
  if (timeOfRow(row.key) > world.clock.now()) return false;
  const image = await loadInstance(world, parseOffer(row.body).instanceId);
  const state = rowStateOf(world, row, image);
  if (state.kind === "early") return false;
  if (state.kind === "open" && !(await queueTask(world, state.image.instance, state.task, type))) {
    return false;
  }
  // A row that was put anew since is another one: it stays.
  await world.store.commit([{ remove: row.key, when: { version: row.version } }]);
  return state.kind === "open";
}
