import { describe, expect, test } from "vitest";
import * as bpmn from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const source = bpmn.beside(
  bpmn.sequence(
    bpmn.service("work"),
    bpmn.boundary("late", "work", bpmn.timer("timeDuration", "PT1H")),
    bpmn.boundary("stopped", "work", bpmn.onSignal("stop")),
    bpmn.boundary("noted", "work", bpmn.onMessage("note")),
    ...["late", "stopped", "noted"].map(
      (by) => bpmn.end(`${by}-end`) + bpmn.flow(`${by}-f`, by, `${by}-end`),
    ),
  ),
  bpmn.aSignal("stop"),
  bpmn.aMessage("note", { key: "=key" }),
);

describe("the operator's view", () => {
  test("S5 has definitions, instances, the path taken, variables, waits, timers and subscriptions", async () => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p", {
      businessKey: "order-7",
      variables: { key: "k", total: 42 },
    });
    await engine.idle();

    const definitions = (await engine.definitions()).items;
    const drawn = await engine.source("p", 1);
    const [listed] = (await engine.list({ businessKey: "order-7" })).items;
    const waits = (await engine.waits(instanceId)).items;
    const path = (await engine.history(instanceId)).items;

    expect(definitions).toMatchObject([{ id: "p", version: 1, enabled: true, live: { count: 1 } }]);
    expect(drawn).toEqual({ notation: "bpmn", text: source });
    expect(listed).toMatchObject({
      instanceId,
      status: "suspended",
      variables: { key: "k", total: 42 },
      activeElements: ["work"],
      completedElements: ["start"],
    });
    expect(
      waits.map(({ kind, element, name, correlationKey, taskType, dueAt }) => ({
        ...{ kind, element },
        ...(name && { name }),
        ...(correlationKey && { correlationKey }),
        ...(taskType && { taskType }),
        ...(dueAt && { dueAt: "a time" }),
      })),
    ).toEqual([
      { kind: "timer", element: "late", dueAt: "a time" },
      { kind: "signal", element: "stopped", name: "stop" },
      { kind: "message", element: "noted", name: "note", correlationKey: "k" },
      { kind: "task", element: "work", taskType: "work" },
    ]);
    expect(path.filter(({ type }) => type === "flow-taken").map(({ element }) => element)).toEqual([
      "f1",
    ]);
  });
});
