// A task type is part of keys: one that no key can hold must be refused before it is stored.
import { describe, expect, test } from "vitest";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const source = bpmn.sequence(
  bpmn.xml("serviceTask", { id: "work" }, bpmn.extensions(bpmn.job("=type"))),
);
const poll = (type: string) => ({ type, max: 1, lockSeconds: 30, worker: "anna" });

async function aWorld() {
  const world = aPlainWorld();
  await world.engine.deploy({ notation: "bpmn", source });
  return world;
}

const tooMuch = [
  ["nothing", ""],
  ["too many characters", "x".repeat(256)],
  ["too many bytes for an index", "字".repeat(112)],
  ["half a character", "a\ud800"],
  ["NUL", "a\0b"],
] as const;

describe("a task type computed to", () => {
  test.each(tooMuch)(
    "%s, is an incident, not a task that no worker could find",
    async (_, type) => {
      const { engine, drain } = await aWorld();

      const { instanceId } = await engine.start("p", { variables: { type } });
      await drain();

      const { incidents, waits } = await engine.get(instanceId);
      expect(incidents).toMatchObject([{ type: "EXTRACT_VALUE_ERROR", element: "work" }]);
      expect(incidents[0]?.message).toMatch(/type of a task must have 1 to 255 characters/);
      expect(waits.map(({ kind }) => kind)).toEqual(["incident"]);
    },
  );

  test.each([
    ["as many characters as there may be", "x".repeat(255)],
    ["as many bytes", "字".repeat(111)],
    ["whatever separates parts of keys", "a#b/c%d e:f"],
  ])("%s, is found by a worker", async (_, type) => {
    const { engine, drain } = await aWorld();

    const { instanceId } = await engine.start("p", { variables: { type } });
    await drain();

    const { tasks } = await engine.activate(poll(type));
    expect(tasks).toMatchObject([{ instanceId, type }]);
    const [task] = tasks;
    await engine.completeTask(task?.taskId ?? "", { lockToken: task?.lockToken ?? "" });
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });
});
