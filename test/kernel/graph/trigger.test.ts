import { describe, expect, test } from "vitest";
import {
  aMessageCatch,
  aProcess,
  aStart,
  aTask,
  aTriggeredStart,
} from "../../support/graph-builder.ts";
import { aProgram, play } from "../../support/play.ts";

const definition = aProcess(
  [
    aStart(),
    aTriggeredStart("by-signal"),
    aTriggeredStart("by-message", { outputs: { sum: "=amount" } }),
    aTask("called"),
    aTask("signalled"),
    aTask("paid"),
  ],
  ["start -> called", "by-signal -> signalled", "by-message -> paid"],
);

const payload = { amount: 3, note: "x" };

describe("a process with triggered start events", () => {
  test("starts at the others when it is started by a call", async () => {
    const order = await play(definition);

    expect(order.open).toEqual(["task called"]);
    expect(order.trail).not.toContain("element-entered by-signal");
  });

  test("F41: starts only at the one that was triggered, and takes the payload", async () => {
    const order = await play(definition, { trigger: { element: "by-signal", payload } });

    expect(order.open).toEqual(["task signalled"]);
    expect(order.variables).toEqual(payload);
    expect(order.trail).toContain("element-completed by-signal");
    expect(JSON.stringify(order.instance.state)).not.toContain("trigger");
  });

  test("F43: maps the payload if the start event says so", async () => {
    const order = await play(definition, { trigger: { element: "by-message", payload } });

    expect(order.open).toEqual(["task paid"]);
    expect(order.variables).toEqual({ sum: 3 });
  });

  test("lets the payload override the variables of the start", async () => {
    const trigger = { element: "by-signal", payload: { amount: 3 } };

    const order = await play(definition, { variables: { amount: 1, kept: true }, trigger });

    expect(order.variables).toEqual({ amount: 3, kept: true });
  });

  test("keeps its trigger across an incident of the process itself", async () => {
    const mapped = aProcess([aTriggeredStart("by-signal"), aTask("work")], ["by-signal -> work"], {
      inputs: { id: '=assert(number, number > 1, "small")' },
    });
    const order = await play(mapped, { trigger: { element: "by-signal", payload } });
    const { open } = order;
    const places = order.program.runner.places(order.instance.state);

    await order.resolve("process", { variables: { number: 7 } });

    expect(open).toEqual(["incident process"]);
    expect(places).toContainEqual(["tokens", 0, "trigger", "payload", "amount"]);
    expect(order.open).toEqual(["task work"]);
    expect(order.variables).toMatchObject({ id: 7, amount: 3 });
  });

  test("keeps its trigger when the start as a whole could not be decided", async () => {
    const program = aProgram(definition);
    let isBroken = true;
    const order = await play(
      {
        ...program,
        runner: {
          ...program.runner,
          start: async (draft, input) => {
            if (isBroken) throw new Error("broken");
            return program.runner.start(draft, input);
          },
        },
      },
      { trigger: { element: "by-message", payload } },
    );
    isBroken = false;

    await order.resolve("process");

    expect(order.open).toEqual(["task paid"]);
    expect(order.variables).toEqual({ sum: 3 });
  });

  test("cannot be started by a call when it has no other", async () => {
    const order = await play(
      aProcess([aTriggeredStart("by-signal"), aMessageCatch("m", "x")], ["by-signal -> m"]),
    );

    expect(order.incident("process").message).toContain("nothing that could ever wake it");
  });
});
