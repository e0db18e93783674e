import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import {
  aMessage,
  aSignal,
  assignment,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  loop,
  onMessage,
  onSignal,
  person,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";
import { startsItself } from "../support/timer-starts.ts";

/** What an instance may be waiting for while the code is replaced. */
type Parked = Readonly<{
  waitsFor: string;
  element: string;
  beside?: readonly string[];
  /** What is done with it before the change. */
  begin?(engine: EmbeddedEngine, instanceId: string): Promise<unknown>;
  wake(engine: EmbeddedEngine, instanceId: string): Promise<unknown>;
}>;

const task = (id: string, type = id, more = "") =>
  xml("serviceTask", { id }, extensions(job(type, { retries: "2" })), more);

const chain = (id: string, element: string, ...beside: readonly string[]) => {
  const between = /id="([^"]*)"/.exec(element)?.[1] ?? "";
  return file(
    xml(
      "process",
      { id, isExecutable: "true" },
      start(),
      element,
      task("tell"),
      end(),
      flow("f1", "start", between),
      flow("f2", between, "tell"),
      flow("f3", "tell", "end"),
    ),
    ...beside,
  );
};

const tasksOf = async (engine: EmbeddedEngine, instanceId: string) =>
  (await engine.tasks({ instanceId, limit: 50 })).items.map(({ taskId }) => taskId);

async function completeAll(engine: EmbeddedEngine, instanceId: string): Promise<void> {
  for (const taskId of await tasksOf(engine, instanceId)) {
    await engine.complete(taskId, { variables: { done: taskId } });
  }
}

const locks = new Map<string, string>();
const MEMBERS = 12;

const PARKED: readonly Parked[] = [
  {
    waitsFor: "a timer",
    element: catching("pause", timer("timeDuration", "PT1H")),
    wake: (engine) => engine.advanceClock("PT1H"),
  },
  {
    waitsFor: "a task that was being run",
    element: task("again", "flaky"),
    wake: (engine) => engine.idle(),
  },
  { waitsFor: "a task for a worker", element: task("ask", "by-hand"), wake: completeAll },
  {
    waitsFor: "a signal",
    element: catching("told", onSignal("s")),
    beside: [aSignal("s", "opened")],
    wake: (engine) => engine.signal("opened"),
  },
  {
    waitsFor: "a message",
    element: catching("paid", onMessage("m")),
    beside: [aMessage("m", { name: "paid", key: '="order"' })],
    wake: (engine) => engine.message({ name: "paid", correlationKey: "order" }),
  },
  {
    waitsFor: "an incident to be resolved",
    element: task("refused", "refuse"),
    wake: async (engine, instanceId) => {
      const [incident] = (await engine.get(instanceId)).incidents;
      await engine.resolveIncident(instanceId, incident?.incidentId ?? "", { retries: 1 });
    },
  },
  {
    waitsFor: "a user who has claimed its task",
    element: person("approve", assignment({ candidateGroups: "sales" })),
    begin: async (engine, instanceId) => {
      const [taskId = ""] = await tasksOf(engine, instanceId);
      await engine.claim(taskId, { user: "anna" });
    },
    wake: async (engine) => {
      const { items } = await engine.tasks({ assignee: "anna" });
      await engine.complete(items[0]?.taskId ?? "", { user: "anna" });
    },
  },
  {
    waitsFor: "a worker that has its task under a lock",
    element: task("carry"),
    begin: async (engine) => {
      const lock = { type: "carry", max: 1, lockSeconds: 3_600, worker: "w" };
      for (const { taskId, lockToken } of (await engine.activate(lock)).tasks) {
        locks.set(taskId, lockToken);
      }
    },
    wake: async (engine, instanceId) => {
      const [taskId = ""] = await tasksOf(engine, instanceId);
      await engine.complete(taskId, { lockToken: locks.get(taskId) ?? "" });
    },
  },
  {
    waitsFor: "a child",
    element: xml(
      "callActivity",
      { id: "call" },
      extensions(xml("zeebe:calledElement", { processId: "called" })),
    ),
    wake: async (engine, instanceId) => {
      const [wait] = (await engine.get(instanceId)).waits;
      await completeAll(engine, wait?.childInstanceId ?? "");
    },
  },
  {
    waitsFor: "the remaining items of a batch",
    element: task(
      "each",
      "pack",
      loop({
        inputCollection: `=for n in 1..${MEMBERS} return n`,
        outputCollection: "results",
        outputElement: "=done",
      }),
    ),
    begin: async (engine, instanceId) => {
      const some = (await tasksOf(engine, instanceId)).slice(0, 5);
      for (const taskId of some) await engine.complete(taskId, { variables: { done: "before" } });
    },
    wake: completeAll,
  },
];

/** Handlers that report their release. The first leaves some tasks unfinished. */
const release = (n: number) => ({
  tell: () => ({ release: n }),
  flaky: () => (n === 1 ? new Promise<never>(() => {}) : {}),
  refuse: () => {
    if (n === 1) throw new Error("not yet");
    return {};
  },
});

describe("an engine that is opened with other code while instances wait", () => {
  test.for(PARKED)("continues an instance that waits for $waitsFor", async (one) => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, tasks: release(1) });
    await before.deploy(chain("called", task("pay", "pay-by-hand")));
    await before.deploy(chain("p", one.element, ...(one.beside ?? [])));
    const { instanceId } = await before.start("p");
    if (!one.element.includes("flaky")) await before.idle();
    await one.begin?.(before, instanceId);
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir, tasks: release(2) });
    await one.wake(after, instanceId);
    await after.idle();

    expect(await after.result(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { release: 2 },
    });
  });

  test("F16 continues timer starts at the instants that were armed before", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, tasks: release(1) });
    await before.deploy(startsItself("p", { timeCycle: "R3/PT10M" }, { type: "tell" }));
    await before.advanceClock("PT10M");
    const [schedule] = (await before.schedules()).items;
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir, tasks: release(2) });
    await after.advanceClock("PT1H");

    const { items } = await after.list({ definition: "p" });
    const begun = items.toReversed();
    expect(schedule).toMatchObject({ remaining: 2 });
    expect(begun.map(({ variables }) => variables.release)).toEqual([1, 2, 2]);
    expect(begun[1]?.startedAt).toBe(schedule?.nextDue);
  });
});
