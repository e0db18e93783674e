// Workers, as callers of a simulated world: what they do with the tasks that they get.
import { EngineError } from "../../../lib/ports/engine-error.ts";
import type { ActivatedTask } from "../../../lib/shapes/tasks.ts";
import type { Answer, Call, Caller, Desk } from "../scenarios/scenario.ts";

const LOCK_SECONDS = 20;

/** The instances whose tasks they do, by default. */
export const IDS = ["one", "two"];

/** What one worker does with the tasks that it gets. */
type Way = "completes" | "dies" | "fails-once" | "beats" | "is-late";

/** The shared knowledge of the workers: which of them has which attempt, and until when. */
export type Crew = Readonly<{
  held: Map<string, readonly Readonly<{ by: string; from: number; until: number }>[]>;
  isAlone: boolean;
}>;

export const newCrew = (): Crew => ({ held: new Map(), isAlone: false });

/** Polls for tasks of a type until every one of these instances has ended. */
export function worker(
  name: string,
  way: Way,
  crew: Crew,
  {
    type = "charge",
    ids = IDS,
    max = 2,
  }: Readonly<{ type?: string; ids?: readonly string[]; max?: number }> = {},
): Caller {
  const state = { deaths: 0, failures: 0 };
  const late: ActivatedTask[] = [];
  return {
    name,
    calls: [
      {
        name: "work",
        make: async (desk) => {
          if (late.length > 0) return reportLate(desk, late);
          const request = { type, max, lockSeconds: LOCK_SECONDS, worker: name };
          const { tasks } = await desk.engine.activate(request);
          for (const task of tasks) take(crew, name, task);
          if (way === "dies" && state.deaths < 2 && tasks.length > 0) {
            state.deaths += 1;
            return "again later";
          }
          if (way === "is-late") {
            late.push(...tasks);
            return tasks.length > 0 ? "again later" : isOver(desk, ids);
          }
          for (const task of tasks) {
            const fails = way === "fails-once" && state.failures === 0;
            if (fails) state.failures += 1;
            await report(desk, crew, task, fails ? "fail" : way);
          }
          return isOver(desk, ids);
        },
        judge: (answer) =>
          answer.kind === "done" ? undefined : `${name} was answered ${JSON.stringify(answer)}`,
      } satisfies Call,
    ],
  };
}

/** A task that is locked at this moment is given to no other worker. */
function take({ held, isAlone }: Crew, by: string, task: ActivatedTask): void {
  const until = Date.parse(task.lockedUntil);
  const from = until - LOCK_SECONDS * 1_000;
  const key = `${task.taskId}/${task.attempt}`;
  const locks = held.get(key) ?? [];
  const other = locks.find((lock) => lock.from <= from && from <= lock.until);
  if (isAlone && other !== undefined) {
    throw new Error(`${key} was given to ${by} at ${from}, and ${other.by} has it: ${other.until}`);
  }
  held.set(key, [...locks, { by, from, until }]);
}

async function report(
  desk: Desk,
  crew: Crew,
  task: ActivatedTask,
  how: Way | "fail",
): Promise<void> {
  const { taskId, attempt } = task;
  let { lockToken } = task;
  if (how === "beats") {
    const beat = await unlessLost(() =>
      desk.engine.heartbeat(taskId, { lockToken, lockSeconds: LOCK_SECONDS }),
    );
    if (beat === undefined || "cancelled" in beat) return;
    lockToken = beat.lockToken;
    take({ ...crew, isAlone: false }, "beats", { ...task, lockedUntil: beat.lockedUntil });
  }
  const [instanceId = "", ...ticket] = taskId.split(".");
  const about = { ticket: ticket.join(".") };
  if (how === "fail") {
    const message = "clumsy";
    desk.brings(instanceId, { kind: "task-failed", ...about, attempt, message });
    await unlessLost(() => desk.engine.failTask(taskId, { lockToken, message }, `fail-${taskId}`));
    return;
  }
  const variables = { charged: true };
  desk.brings(instanceId, { kind: "task-completed", ...about, variables });
  await unlessLost(() => desk.engine.completeTask(taskId, { lockToken, variables }));
}

/** Long after its lock has expired, without another worker: it still counts. */
async function reportLate(desk: Desk, late: ActivatedTask[]): Promise<Answer | "again later"> {
  const [task] = late;
  if (task === undefined) return "again later";
  const { taskId, lockToken } = task;
  const [instanceId = "", ...ticket] = taskId.split(".");
  const variables = { late: true };
  desk.brings(instanceId, { kind: "task-completed", ticket: ticket.join("."), variables });
  try {
    await desk.engine.completeTask(taskId, { lockToken, variables }, `late-${taskId}`);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "task/not-found") throw error;
  }
  late.shift();
  return "again later";
}

/** Another worker was faster, or the task is over. */
export async function unlessLost<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    const isLost = error instanceof EngineError && /^task\/(not-found|lock-lost)$/.test(error.code);
    if (!isLost) throw error;
    return undefined;
  }
}

/** Whether every one of these instances has ended. */
export async function isOver(
  { engine, committedEntries }: Desk,
  ids: readonly string[] = IDS,
): Promise<Answer | "again later"> {
  if (ids.some((id) => committedEntries(id) === 0)) return "again later";
  for (const id of ids) {
    const { status } = await engine.get(id);
    if (status === "running" || status === "suspended") return "again later";
  }
  return { kind: "done" };
}
