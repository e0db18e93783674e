import type { Json } from "../../lib/definition/json.ts";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import { event, task, type Workflow } from "./generator-runner.ts";

/** Waits for one event, and returns its payload. */
const waits: Workflow = function* () {
  return yield event("paid");
};
/** Works first, then waits. */
const works: Workflow = function* () {
  yield task("work");
  return yield event("paid");
};
/** Waits for two of them, one after the other. */
const twice: Workflow = function* () {
  const first = yield event("paid");
  const second = yield event("paid");
  return [first, second];
};
/** Waits for three of them, with work before each. */
const thrice: Workflow = function* () {
  const read: Json[] = [];
  for (let n = 0; n < 3; n++) {
    yield task("work");
    read.push(yield event("paid"));
  }
  return read;
};
/** Workflows that wait for the event "paid". */
export const workflows = { waits, works, twice, thrice };

/** Completes the one open task of the instance, and waits for what follows. */
export async function finishWork(engine: EmbeddedEngine, instanceId: string): Promise<void> {
  const { items } = await engine.tasks({ instanceId });
  await engine.complete(items[0]?.taskId ?? "");
  await engine.idle();
}

export async function isWaiting(engine: EmbeddedEngine, instanceId: string): Promise<boolean> {
  return (await engine.get(instanceId)).status === "suspended";
}
