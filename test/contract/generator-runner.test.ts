import { describe, expect, test } from "vitest";
import {
  assigned,
  aWorkflow,
  event,
  generatorRunner,
  message,
  race,
  signal,
  task,
  timer,
} from "../support/generator-runner.ts";
import { anEvent, play } from "../support/play.ts";
import { describeRunner } from "./runner.contract.ts";

const HOUR = 3_600_000;

describeRunner("the generator runner", {
  oneTask: () =>
    aWorkflow(function* (input) {
      return yield task("work", input, { retries: 2 });
    }),
  taskThenTimer: () =>
    aWorkflow(function* () {
      yield task("work");
      yield timer(HOUR);
      return yield task("after");
    }),
  race: () =>
    aWorkflow(function* () {
      const first = yield race({ work: task("work"), late: timer(HOUR) });
      const isLate = JSON.stringify(first).includes('"winner":"late"');
      return yield task(isLate ? "too-late" : "on-time");
    }),
  signalled: () =>
    aWorkflow(function* () {
      yield signal("closed");
      return yield task("after");
    }),
  messaged: () =>
    aWorkflow(function* () {
      yield message("paid", "42");
      return yield task("after");
    }),
  firstOf: () =>
    aWorkflow(function* () {
      const first = yield race({
        signal: signal("closed"),
        message: message("paid", "42"),
        timer: timer(HOUR),
      });
      const [winner] = /(?<="winner":")\w+/.exec(JSON.stringify(first)) ?? [];
      return yield task(`on-${winner}`);
    }),
  assigned: () =>
    aWorkflow(function* () {
      yield race({ approved: assigned("approved"), late: timer(HOUR) });
      return yield task("after");
    }),
  exhausted: "failed",
  taken: "incident",
  patch: "refused",
});

describe("the generator runner", () => {
  test("throws an awaited failure into the workflow, which may catch it", async () => {
    const run = await play(
      aWorkflow(function* () {
        try {
          return yield task("work", {}, { retries: 1 });
        } catch (cause) {
          return yield task("mend", { why: String(cause) });
        }
      }),
    );

    await run.fail("work", { message: "no answer" });

    expect(run.open).toEqual(["task mend"]);
    expect(run.input("mend")).toEqual({ why: "Error: no answer" });
  });

  test("ends when a variable is set, with its value as the result", async () => {
    const run = await play(
      aWorkflow(function* () {
        return yield race({ rate: assigned("rate"), late: timer(HOUR) });
      }),
    );

    await run.deliver({ kind: "variables-patched", variables: { rate: 7 } });

    expect(run.status).toBe("succeeded success");
    expect(run.program.runner.result(run.instance)).toEqual({ winner: "rate", value: 7 });
  });

  test("treats a failure with a code as final", async () => {
    const run = await play(
      aWorkflow(function* () {
        return yield task("work");
      }),
    );

    await run.fail("work", { code: "NO_STOCK", message: "none left" });

    expect(run.status).toBe("failed failure");
    expect(run.instance.error).toEqual({ message: "none left" });
  });

  test("raises an incident when replay diverges from the journal, and continues when it is fixed", async () => {
    let type = "work";
    const run = await play(
      aWorkflow(function* () {
        yield task(type);
        return yield task("after");
      }),
    );
    type = "other";
    await run.complete("work");
    const incident = run.incident("replay");

    type = "work";
    await run.resolve("replay");

    expect(incident.type).toBe("NON_DETERMINISM");
    expect(incident.message).toContain('"type":"other"');
    expect(incident.message).toContain('"type":"work"');
    expect(run.open).toEqual(["task after"]);
  });

  test("D6: passes what arrived to the workflow, by whatever way", async () => {
    const run = await play(
      aWorkflow(function* () {
        return [yield event("approved"), yield signal("closed"), yield message("paid")];
      }),
    );

    await run.send(anEvent("approved", { payload: "yes" }));
    await run.signal("signal:closed", { payload: { why: "flood" } });
    await run.message("message:paid", { amount: 3 });

    expect(run.program.runner.result(run.instance)).toEqual([
      "yes",
      { why: "flood" },
      { amount: 3 },
    ]);
  });

  test("D7: records the winner in the journal, and replays it", async () => {
    const run = await play(
      aWorkflow(function* () {
        const first = yield race({ yes: event("yes"), no: event("no"), late: timer(HOUR) });
        yield task("after");
        return first;
      }),
    );
    await run.send(anEvent("yes", { payload: 1 }));
    await run.send(anEvent("no", { payload: 2 }));

    await run.complete("after");

    expect(run.program.runner.result(run.instance)).toEqual({ winner: "yes", value: 1 });
  });

  test("raises an incident for an unregistered workflow", async () => {
    const { definition } = aWorkflow(function* () {
      return yield timer(1);
    });

    const run = await play({ definition, runner: generatorRunner(new Map())(definition) });

    expect(run.incident("workflow").message).toContain('No workflow is called "workflow"');
  });
});
