import { describe, expect, test } from "vitest";
import {
  boundary,
  end,
  file,
  flow,
  process,
  sequence,
  service,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";
import { aPlainWorld } from "../support/plain-world.ts";

const catching = (id: string, definition: string) =>
  xml("intermediateCatchEvent", { id }, definition);

/** A task with a boundary timer whose path ends at `late`. */
const guarded = (definition: string, cancelActivity: "true" | "false" = "true") =>
  sequence(
    service("work"),
    boundary("deadline", "work", definition, { cancelActivity }),
    end("late"),
    flow("f3", "deadline", "late"),
  );

const count = (trail: readonly string[], line: string) => trail.filter((it) => it === line).length;

describe("a timer between tasks", () => {
  test("F10 waits, resumes, and keeps the variables", async () => {
    const source = file(
      process(
        start(),
        service("before"),
        catching("pause", timer("timeDuration", "PT1H")),
        service("after"),
        end(),
        flow("f1", "start", "before"),
        flow("f2", "before", "pause"),
        flow("f3", "pause", "after"),
        flow("f4", "after", "end"),
      ),
    );
    let runs = 0;
    const engine = await anEngine({
      source,
      tasks: { work: () => ({ [`run${++runs}`]: true }) },
    });
    const { instanceId } = await engine.start("p", { variables: { kept: "x" } });
    await engine.idle();

    const [waiting] = (await engine.waits(instanceId)).items;
    const early = await engine.advanceClock("PT59M59.999S");
    const due = await engine.advanceClock("PT0.001S");

    expect(waiting).toMatchObject({ kind: "timer", element: "pause" });
    expect(early).toMatchObject({ fired: 0 });
    expect(due).toMatchObject({ fired: 1, left: [] });
    expect(await engine.result(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { kept: "x", run1: true, run2: true },
    });
  });

  test("F11 a date in the past, a zero duration and a negative one fire at once", async () => {
    for (const definition of [
      timer("timeDate", "2001-01-01T00:00:00Z"),
      timer("timeDuration", "PT0S"),
      timer("timeDuration", "-PT10S"),
    ]) {
      const engine = await anEngine({ source: sequence(catching("wait", definition)) });

      const { instanceId } = await engine.start("p");

      expect((await engine.get(instanceId)).status).toBe("succeeded");
    }
  });

  test("F11 a date ahead is waited for, to the millisecond", async () => {
    const engine = await anEngine({
      source: sequence(catching("wait", timer("timeDate", "=due"))),
    });
    const due = new Date(Date.now() + 5 * 86_400_000).toISOString();

    const { instanceId } = await engine.start("p", { variables: { due } });
    const [waiting] = (await engine.waits(instanceId)).items;
    await engine.advanceClock("P6D");

    expect(waiting).toMatchObject({ kind: "timer", dueAt: due });
    const { items } = await engine.history(instanceId);
    expect(items.find(({ type }) => type === "timer-due")).toMatchObject({ at: due });
  });

  test("F11 computed from unsuitable variables is an incident, and can be resolved", async () => {
    const engine = await anEngine({
      source: sequence(catching("wait", timer("timeDuration", "=delay"))),
    });
    const { instanceId } = await engine.start("p", { variables: { delay: "tomorrow" } });
    const [incident] = (await engine.get(instanceId)).incidents;

    await engine.resolveIncident(instanceId, incident?.incidentId ?? "", {
      variables: { delay: "PT1S" },
    });
    await engine.advanceClock("PT1S");

    expect(incident).toMatchObject({ type: "EXTRACT_VALUE_ERROR", element: "wait" });
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("F17 F18 fires once, and a fire after the end or a cancel changes nothing", async () => {
    const engine = await anEngine({
      source: sequence(catching("wait", timer("timeDuration", "PT1M"))),
    });
    const { instanceId } = await engine.start("p");
    const ticket = "t1.1";
    const message = { kind: "timer", tenant: "default", instanceId, ticket } as const;
    const invocation = { id: "test", until: 0 as never, mayContinue: false };
    await engine.advanceClock("PT1M");
    const ended = await engine.get(instanceId);

    const verdicts = [
      await engine.engine.handle(message, invocation),
      await engine.engine.handle(message, invocation),
    ];

    expect(verdicts).toEqual(["release", "release"]);
    expect(await engine.get(instanceId)).toEqual(ended);
    expect(count(await trailOf(engine, instanceId), "timer-due wait")).toBe(1);
  });

  test("F17 delivered twenty times at the same moment advances once", async () => {
    const world = aPlainWorld();
    const source = sequence(catching("wait", timer("timeDuration", "PT1M")));
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p");
    const message = { kind: "timer", tenant: "default", instanceId, ticket: "t1.1" } as const;
    const deliver = (n: number) =>
      world.engine.handle(message, { id: `i${n}`, until: world.now(), mayContinue: false });
    world.moveTo(world.now() + 60_000);

    const verdicts = await Promise.all(Array.from({ length: 20 }, (_, n) => deliver(n)));
    await world.drain();

    expect(new Set(verdicts)).toEqual(new Set(["release"]));
    const { items } = await world.engine.history(instanceId, { limit: 200 });
    expect(items.filter(({ type }) => type === "timer-due")).toHaveLength(1);
    expect(items.filter(({ type }) => type === "instance-ended")).toHaveLength(1);
    // The start and one firing: every other delivery left the instance unchanged.
    expect(world.commits.map(({ version }) => version)).toEqual([1, 2]);
  });

  test("F19 that came due while no process was running fires when the engine is opened again", async () => {
    const dataDir = aDataDir();
    const source = sequence(catching("wait", timer("timeDate", "=due")));
    const before = await anEngine({ dataDir, source, clock: "real" });
    const due = new Date(Date.now() + 20).toISOString();
    const { instanceId } = await before.start("p", { variables: { due } });
    await before.close();

    const after = await anEngine({ dataDir, clock: "real" });
    const result = await after.result(instanceId, { timeoutMs: 5_000 });

    expect(result.status).toBe("succeeded");
    expect(count(await trailOf(after, instanceId), "timer-due wait")).toBe(1);
  });
});

describe("the response of advancing the clock", () => {
  test("counts timers that fired, not those that a firing closed", async () => {
    const twice = sequence(
      service("work"),
      boundary("first", "work", timer("timeDuration", "PT10M")),
      boundary("second", "work", timer("timeDuration", "PT10M")),
      end("late"),
      flow("f3", "first", "late"),
      flow("f4", "second", "late"),
    );
    const engine = await anEngine({ source: twice });
    await engine.start("p");

    expect(await engine.advanceClock("PT10M")).toMatchObject({ fired: 1, left: [] });
  });
});

describe("a boundary timer", () => {
  test("F12 interrupts its host, which can then no longer be completed", async () => {
    const engine = await anEngine({ source: guarded(timer("timeDuration", "PT10M")) });
    const { instanceId } = await engine.start("p");
    const [task] = (await engine.tasks()).items;

    await engine.advanceClock("PT10M");

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", waits: [] });
    const trail = await trailOf(engine, instanceId);
    expect(trail).toEqual(
      expect.arrayContaining([
        "timer-due deadline",
        "element-terminated work",
        "element-completed deadline",
        "element-completed late",
      ]),
    );
    const late = engine.complete(task?.taskId ?? "");
    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
  });

  test("F12 fires while its host runs, and aborts the handler", async () => {
    let stopped = false;
    const engine = await anEngine({
      source: guarded(timer("timeDuration", "PT10M")),
      advancePatienceMs: 20,
      tasks: {
        work: (_: unknown, { signal }: { signal: AbortSignal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              stopped = true;
              resolve({ tooLate: true });
            });
          }),
      },
    });
    const { instanceId } = await engine.start("p");

    await engine.advanceClock("PT10M");

    expect(await engine.result(instanceId)).toMatchObject({ status: "succeeded", variables: {} });
    expect(stopped).toBe(true);
  });

  test("F13 is disarmed when its host finishes first", async () => {
    const engine = await anEngine({ source: guarded(timer("timeDuration", "PT10M")) });
    const { instanceId } = await engine.start("p");
    const [task] = (await engine.tasks()).items;

    await engine.complete(task?.taskId ?? "");

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", waits: [] });
    expect(await engine.advanceClock("P1D")).toMatchObject({ fired: 0 });
    expect(await trailOf(engine, instanceId)).not.toContain("timer-due deadline");
  });

  test("F14 that does not interrupt fires beside its host, which continues", async () => {
    const engine = await anEngine({ source: guarded(timer("timeDuration", "PT10M"), "false") });
    const { instanceId } = await engine.start("p");

    await engine.advanceClock("P1D");
    const meanwhile = await engine.get(instanceId);
    const [task] = (await engine.tasks()).items;
    await engine.complete(task?.taskId ?? "");

    expect(meanwhile).toMatchObject({ status: "suspended", activeElements: ["work"] });
    expect(meanwhile.completedElements).toContain("late");
    expect(count(await trailOf(engine, instanceId), "timer-due deadline")).toBe(1);
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("F15 of R3 fires exactly three times, one interval after the other", async () => {
    const engine = await anEngine({ source: guarded(timer("timeCycle", "R3/PT10M"), "false") });
    const { instanceId, startedAt } = await engine.start("p");

    const { fired } = await engine.advanceClock("P1D");

    const { items } = await engine.history(instanceId);
    const minutes = items
      .filter(({ type }) => type === "timer-due")
      .map(({ at }) => (Date.parse(at) - Date.parse(startedAt)) / 60_000);
    expect(fired).toBe(3);
    expect(minutes).toEqual([10, 20, 30]);
  });

  test("F15 without end fires until its host has completed", async () => {
    const engine = await anEngine({ source: guarded(timer("timeCycle", "R/PT10M"), "false") });
    const { instanceId } = await engine.start("p");

    const { fired } = await engine.advanceClock("PT1H");
    const [task] = (await engine.tasks()).items;
    await engine.complete(task?.taskId ?? "");

    expect(fired).toBe(6);
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", waits: [] });
    expect(await engine.advanceClock("P1D")).toMatchObject({ fired: 0 });
  });

  test("F20 is armed again each time a loop returns to its host", async () => {
    const source = file(
      process(
        start(),
        service("work"),
        boundary("deadline", "work", timer("timeDuration", "PT10M"), { cancelActivity: "false" }),
        xml("exclusiveGateway", { id: "again", default: "stop" }),
        end(),
        end("late"),
        flow("f1", "start", "work"),
        flow("f2", "work", "again"),
        flow("back", "again", "work", "=more"),
        flow("stop", "again", "end"),
        flow("f3", "deadline", "late"),
      ),
    );
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");
    const completeWith = async (more: boolean) => {
      const [task] = (await engine.tasks()).items;
      await engine.complete(task?.taskId ?? "", { variables: { more } });
    };

    await engine.advanceClock("PT9M");
    await completeWith(true);
    const second = await engine.advanceClock("PT9M");
    await completeWith(true);
    const third = await engine.advanceClock("PT10M");
    await completeWith(false);

    expect([second.fired, third.fired]).toEqual([0, 1]);
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", waits: [] });
  });
});
