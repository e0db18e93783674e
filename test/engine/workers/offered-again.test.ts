import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { ONE_PROCESS } from "../../../lib/engine/world.ts";
import { inARow } from "../../cost/workflows.ts";
import { extensions, job, service, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const before = xml("serviceTask", { id: "before" }, extensions(job("before")));
const source = inARow("p", [before, service("work")]);
const poll = { type: "work", max: 10, lockSeconds: 30, worker: "w" };

describe("a task that is offered again", () => {
  test("is found although the invocation that took over its step died before the commit", async () => {
    const store = new SimulatedStore({});
    const { engine, queued, drain, moveTo, now } = aPlainWorld({
      store,
      tasks: { before: () => ({}) },
      settings: { host: ONE_PROCESS },
    });
    await engine.deploy({ notation: "bpmn", source });
    await engine.start("p", { instanceId: "one" });
    const [message] = queued;
    if (message === undefined) throw new Error("nothing was queued");
    await drain();
    moveTo(now() + 3_600_000);

    const { commit } = store;
    store.commit = async (writes) => {
      const isStep = writes.some((write) => "put" in write && write.put.key.sk === "S");
      if (isStep) throw new Error("the process died");
      return commit.call(store, writes);
    };
    const again = { id: "later", until: instantFrom(now() + 60_000), mayContinue: true };
    await expect(engine.handle(message, again)).rejects.toThrow("the process died");
    store.commit = commit;

    const { tasks } = await engine.activate(poll);
    expect(tasks.map(({ taskId }) => taskId)).toEqual(["one.k2.1"]);
    expect((await engine.activate(poll)).tasks).toEqual([]);
  });
});
