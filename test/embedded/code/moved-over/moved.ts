// What the tests of moved programs share: an engine with the programs of one project.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "fermata-engine/embedded";
import type { Workflow } from "fermata-engine/workflow";

export type MovedOver = Awaited<ReturnType<typeof moved>>;

/** An engine on a virtual clock that has the programs in a folder beside this file. */
export async function moved(project: string) {
  const dataDir = mkdtempSync(join(tmpdir(), "fermata-moved-over-"));
  const workflows = join(import.meta.dirname, project);
  const open = () => openEngine({ dataDir, clock: "virtual", workflows });
  let engine = await open();

  return {
    get engine() {
      return engine;
    },

    async restart() {
      await engine.close();
      engine = await open();
    },

    /** Starts a program, which runs until it waits or ends. */
    async start<Input, Output>(program: Workflow<Input, Output>, input: Input) {
      const started = await engine.start(program, { input });
      await engine.idle();
      return started;
    },

    /** Sends an event to an instance, which runs on until it waits or ends. */
    async send({ instanceId }: { instanceId: string }, name: string, payload: unknown) {
      await engine.event({ name, target: instanceId, payload: payload as never });
      await engine.idle();
    },

    /** Publishes a message, which reaches the instance that waits for its name and key. */
    async tell(name: string, correlationKey: string, payload: Record<string, string> | null) {
      await engine.message({ name, correlationKey, ...(payload && { payload }) });
      await engine.idle();
    },

    /** Completes the one task of an instance that waits for a worker. */
    async complete({ instanceId }: { instanceId: string }, result: string) {
      const [open] = (await engine.tasks({ instanceId })).items;
      await engine.complete(open?.taskId ?? "", { result });
      await engine.idle();
    },

    /** Lets time pass for all programs. */
    async pass(duration: string) {
      const passed = await engine.advanceClock(duration);
      await engine.idle();
      return passed;
    },

    async close() {
      await engine.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}
