import { describe, expect, test } from "vitest";
import { ONE_PROCESS } from "../../../lib/engine/world.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const source = bpmn.sequence(
  bpmn.xml(
    "serviceTask",
    { id: "work" },
    bpmn.extensions(bpmn.job()),
    bpmn.loop({ inputCollection: "=items", inputElement: "item" }),
  ),
);
const items = Array.from({ length: 60 }, (_, n) => n);

describe("concurrent callers of one instance in a process that owns its store", () => {
  test("F67: succeed one after the other, each with one commit, and none is refused", async () => {
    const { engine, drain, commits } = aPlainWorld({ settings: { host: ONE_PROCESS } });
    await engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await engine.start("p", { variables: { items } });
    await drain();
    const { items: tasks } = await engine.tasks({ instanceId }, { limit: 200 });
    const before = commitsOf(commits, instanceId);

    const served = await Promise.all(tasks.map(({ taskId }) => engine.completeTask(taskId)));

    expect(served).toHaveLength(60);
    expect(commitsOf(commits, instanceId) - before).toBe(60);
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });
});

const commitsOf = (commits: readonly Instance[], id: string): number =>
  commits.filter((instance) => instance.id === id).length;
