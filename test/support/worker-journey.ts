// The calls for tasks of workers, one by one, for tests that count the cost of each.

import { SimulatedOwnQueues } from "../../lib/adapters/simulated/own-queues.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Store } from "../../lib/ports/store.ts";
import type { ActivatedTask } from "../../lib/shapes/tasks.ts";
import { inARow } from "../cost/workflows.ts";
import { extensions, job, xml } from "./bpmn-xml.ts";
import { aPlainWorld, type PlainWorld } from "./plain-world.ts";

const ARN = "arn:aws:sqs:us-east-1:000000000000:queued";
const poll = { max: 1, lockSeconds: 30, worker: "anna" };
const aTask = (id: string, type: string) => xml("serviceTask", { id }, extensions(job(type)));

const source = inARow("p", [
  aTask("a", "here"),
  aTask("b", "polled"),
  aTask("c", "polled"),
  aTask("d", "here"),
  aTask("e", "queued"),
  aTask("f", "here"),
]);

/** The charge of one call, or one delivery. */
export type Counted<U> = Readonly<{ what: string; units: U }>;

/** An engine on this store that has cached the process and its task types. */
export async function aWorkersWorld(store: Store): Promise<PlainWorld> {
  const clock = { now: () => instantFrom(0) };
  const ownQueues = new SimulatedOwnQueues({ clock, region: "us-east-1", there: [ARN] });
  const tasks = { here: () => ({}) };
  const world = aPlainWorld({ store, ownQueues, tasks, mayContinue: false });
  await world.engine.deploy({ notation: "bpmn", source });
  await world.engine.setTaskType("queued", { queueArn: ARN });
  await world.engine.start("p", { instanceId: "earlier" });
  await world.drain();
  await world.engine.cancel("earlier");
  await world.drain();
  return world;
}

/**
 * A worker that polls when everything has settled: each of its calls, and what each leaves behind.
 */
export async function* patientWorker<U>(
  { engine, drain }: PlainWorld,
  lap: () => U,
): AsyncGenerator<Counted<U>> {
  const count = (what: string) => ({ what, units: lap() });
  await engine.start("p", { instanceId: "one" });
  lap();
  await drain();
  yield count("a step that opens a task, and its row");
  const first = only((await engine.activate({ ...poll, type: "polled" })).tasks);
  yield count("a poll that finds it");
  const beat = await engine.heartbeat(first.taskId, { lockToken: first.lockToken });
  yield count("a heartbeat");
  const lockToken = "lockToken" in beat ? beat.lockToken : "";
  await engine.completeTask(first.taskId, { lockToken });
  yield count("its completion, which opens the next one");
  await drain();
  yield count("the parked copy of that call");
  const second = only((await engine.activate({ ...poll, type: "polled" })).tasks);
  lap();
  await engine.activate({ ...poll, type: "polled" });
  yield count("a poll that finds nothing");
  await engine.completeTask(second.taskId, { lockToken: second.lockToken });
  yield count("a completion after which it goes on here");
  await drain();
  lap();
  const [{ taskId = "" } = {}] = (await engine.get("one")).waits;
  lap();
  await engine.completeTask(taskId);
  yield count("the completion of one that was in a queue");
}

/** A worker that locks the next task before the parked copy of the call has offered it again. */
export async function* quickWorker<U>(
  { engine, drain }: PlainWorld,
  lap: () => U,
): AsyncGenerator<Counted<U>> {
  const count = (what: string) => ({ what, units: lap() });
  await engine.start("p", { instanceId: "two" });
  await drain();
  const first = only((await engine.activate({ ...poll, type: "polled" })).tasks);
  await engine.completeTask(first.taskId, { lockToken: first.lockToken });
  const second = only((await engine.activate({ ...poll, type: "polled" })).tasks);
  lap();
  await drain();
  yield count("the parked copy, which offers it again");
  await engine.completeTask(second.taskId, { lockToken: second.lockToken });
  yield count("a completion that finds the second row");
  await engine.activate({ ...poll, type: "polled" });
  yield count("a poll that finds nothing");
}

function only([task]: readonly ActivatedTask[]): ActivatedTask {
  if (task === undefined) throw new Error("there is no task");
  return task;
}
