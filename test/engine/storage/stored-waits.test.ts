import { describe, expect, test } from "vitest";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { parseStored } from "../../../lib/engine/storage/codec.ts";
import { instanceKey } from "../../../lib/engine/storage/keys.ts";
import type { Ticket } from "../../../lib/kernel/instance.ts";
import { ALSO, CALLS, ROUNDS } from "../../support/every-wait.ts";
import type { PlainWorld } from "../../support/plain-world.ts";
import { READ, worldOf } from "../../support/stored-world.ts";

const PAGE = { limit: 200 };

/** Formats whose engines knew all of these waits. */
const KNOWING = READ.filter((format) => format >= 4);

describe.each(KNOWING)("data stored by an engine of format %i", (format) => {
  test("has every kind of ticket", async () => {
    const { store } = await worldOf(format);

    const kinds = store
      .items()
      .filter(({ key }) => key.pk.includes("#I#") && key.sk === "S")
      .flatMap(({ body }) => parseStored(body).packed.k.map(([, , , , , rest]) => kindOf(rest)));

    const all: Readonly<Record<Ticket["on"], true>> = {
      task: true,
      family: true,
      timer: true,
      signal: true,
      message: true,
      event: true,
      child: true,
      continuation: true,
      incident: true,
    };
    expect([...new Set(kinds)].sort()).toEqual(Object.keys(all).sort());
  });

  test("continues: a batch of calls, whose children end one after the other", async () => {
    const world = await worldOf(format);

    await finishTasks(world, "weigh-child");

    expect((await world.engine.get(ALSO.callFamily)).status).toBe("succeeded");
    const { items } = await world.engine.history(ALSO.callFamily, PAGE);
    expect(items.filter(({ type }) => type === "child-ended")).toHaveLength(CALLS);
  });

  test("continues: a step that was too long, where it had stopped", async () => {
    const { engine, queued, drain } = await worldOf(format);
    const { items } = await engine.waits(ALSO.continuation);

    const about = { tenant: "default", instanceId: ALSO.continuation, name: "w1.1" };
    queued.push({ kind: "parked", ...about, fact: { kind: "continued", ticket: "w1.1" } });
    await drain();

    expect(items).toMatchObject([{ kind: "continuation" }]);
    expect((await engine.result(ALSO.continuation)).variables).toEqual({ n: ROUNDS });
  });

  test("continues: waits that stay open, a cycle and a message", async () => {
    const world = await worldOf(format);
    const { engine, drain, now, moveTo } = world;

    moveTo(now() + 600_000);
    const invocation = { id: "one", until: instantFrom(now() + 60_000), mayContinue: false };
    const fired = await engine.wake(instanceKey("default", ALSO.staying), invocation);
    const answer = await engine.message({ name: "asked", correlationKey: "case-1" });
    await drain();
    const { items } = await engine.waits(ALSO.staying);
    await finishTasks(world, "answer");

    expect([fired, answer.outcome]).toEqual([1, "delivered"]);
    expect(items.map(({ kind }) => kind).sort()).toEqual(["message", "task", "timer"]);
    expect((await engine.get(ALSO.staying)).status).toBe("succeeded");
  });

  test("continues: a race, which the first event wins", async () => {
    const { engine, drain } = await worldOf(format);

    const { deliveredCount } = await engine.signal({ name: "finish" });
    await drain();

    expect(deliveredCount).toBe(1);
    expect((await engine.get(ALSO.race)).completedElements).toContain("won-won");
  });

  test("continues: a task that backs off, when its time has come", async () => {
    const world = await worldOf(format);
    const { engine, moveTo, now } = world;
    const lock = { type: "knock", max: 1, lockSeconds: 10, worker: "w" };
    const early = await engine.activate(lock);

    moveTo(now() + 3_600_000);
    const { tasks } = await engine.activate(lock);
    const [task] = tasks;
    await engine.completeTask(task?.taskId ?? "", { lockToken: task?.lockToken ?? "" });

    expect(early.tasks).toEqual([]);
    expect(task).toMatchObject({ instanceId: ALSO.backoff, attempt: 2 });
    expect((await engine.get(ALSO.backoff)).status).toBe("succeeded");
  });

  test("continues: a claimed exclusive task, which is not run a second time", async () => {
    const { engine, queued, drain, moveTo, now } = await worldOf(format);
    moveTo(now() + 3_600_000);

    const about = { tenant: "default", instanceId: ALSO.claimed };
    queued.push({ kind: "task", ...about, ticket: "k1.1", attempt: 1, type: "guard" });
    await drain();

    expect((await engine.get(ALSO.claimed)).incidents).toMatchObject([{ element: "guard" }]);
  });

  test("continues: an incident that keeps its fact, which is taken once it can be", async () => {
    const { engine, drain } = await worldOf(format);
    const [incident] = (await engine.get(ALSO.keptFact)).incidents;

    await engine.message({ name: "held", correlationKey: "k", payload: { place: 1 } });
    await drain();
    await engine.resolveIncident(ALSO.keptFact, incident?.incidentId ?? "", {});
    await engine.message({ name: "held", correlationKey: "k", payload: { place: 2 } });
    await drain();

    expect((await engine.result("holds-the-pair")).result).toEqual({ place: 1 });
    expect((await engine.result(ALSO.keptFact)).result).toEqual({ place: 2 });
  });
});

/** A ticket is a row of what every ticket has, and the rest; a list there is a plain task. */
const kindOf = (rest: object): unknown =>
  Array.isArray(rest) ? "task" : "on" in rest ? rest.on : undefined;

async function finishTasks({ engine, drain }: PlainWorld, type: string): Promise<void> {
  const { items } = await engine.tasks({ type }, PAGE);
  for (const { taskId } of items) await engine.completeTask(taskId);
  await drain();
}
