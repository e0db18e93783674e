import { expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { task, type Workflow } from "../../support/generator-runner.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const program: Workflow = function* () {
  yield task("work", {});
  return null;
};

test("a workflow that is pinned to another engine stays queued, and the error names both", async () => {
  const store = new SimulatedStore({});
  const given = { store, tasks: { work: () => ({}) }, workflows: new Map([["program", program]]) };
  const first = aPlainWorld(given);
  await first.engine.deploy({ notation: "code", source: "program" });
  await first.engine.start("program", { instanceId: "i" });
  const [message] = first.queued;
  if (message === undefined) throw new Error("nothing is queued");
  const invocation = { id: "other", until: first.now(), mayContinue: false };
  const other = aPlainWorld({ ...given, sandbox: { engine: "newer" } });

  const handled = other.engine.handle(message, invocation);

  await expect(handled).rejects.toMatchObject({
    code: "engine/misconfigured",
    retryable: true,
    message: expect.stringMatching(/pinned to the sandbox .+, and this engine has newer/),
  });
  await first.drain();
  expect((await first.engine.get("i")).status).toBe("succeeded");
});
