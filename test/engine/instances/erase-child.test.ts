import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { type HostTraits, MANY_PROCESSES, ONE_PROCESS } from "../../../lib/engine/world.ts";
import { extensions, file, flow, process, service, start, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const named = (id: string, source: string) => source.replace('id="p"', `id="${id}"`);

const CHILD = named("child", file(process(start(), service("pay"), flow("f1", "start", "pay"))));

/** A process that calls this many children at once. */
const parentOf = (calls: number) =>
  named(
    "parent",
    file(
      process(
        start(),
        ...Array.from({ length: calls }, (_, n) =>
          xml("callActivity", { id: `c${n}` }, extensions(xml("zeebe:calledElement", CALLED))),
        ),
        ...Array.from({ length: calls }, (_, n) => flow(`f${n}`, "start", `c${n}`)),
      ),
    ),
  );
const CALLED = { processId: "child" };

/** The children of a parent, each at a task for a worker. */
async function aFamily(calls: number, host: HostTraits) {
  const world = aPlainWorld({ store: new SimulatedStore({}), settings: { host } });
  const { engine, drain } = world;
  await engine.deploy({ notation: "bpmn", source: CHILD });
  await engine.deploy({ notation: "bpmn", source: parentOf(calls) });
  await engine.start("parent", { instanceId: "one" });
  await drain();
  const { items } = await engine.tasks({ type: "work" }, { limit: 50 });
  return { ...world, tasks: items };
}

describe.each([
  ["queues that last", MANY_PROCESSES],
  ["queues in memory", ONE_PROCESS],
])("erasing a child whose parent has not taken its result yet, with %s,", (_, host) => {
  test("lets the parent take its result first (F7)", async () => {
    const { engine, drain, tasks } = await aFamily(1, host);
    const [task] = tasks;
    await engine.completeTask(task?.taskId ?? "", { variables: { paid: 42 } });

    await engine.erase(task?.instanceId ?? "");
    await drain();

    expect(await engine.get("one")).toMatchObject({
      status: "succeeded",
      variables: { paid: 42 },
    });
  });

  test("is refused while the parent is too busy to take it, and nothing is lost (F7)", async () => {
    const { engine, drain, tasks } = await aFamily(6, host);
    const [first, ...others] = tasks;
    await engine.completeTask(first?.taskId ?? "", { variables: { paid: 42 } });

    const early = engine.erase(first?.instanceId ?? "");
    await expect(early).rejects.toMatchObject({ code: "engine/busy", retryable: true });
    expect((await engine.get(first?.instanceId ?? "")).variables).toMatchObject({ paid: 42 });
    await drain();
    await engine.erase(first?.instanceId ?? "");
    for (const { taskId } of others) await engine.completeTask(taskId);
    await drain();

    expect(await engine.get("one")).toMatchObject({
      status: "succeeded",
      variables: { paid: 42 },
    });
  });
});
