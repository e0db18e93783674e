import { describe, expect, test } from "vitest";
import { draftOf } from "../../../lib/kernel/draft.ts";
import { graphRunner } from "../../../lib/kernel/graph/graph-runner.ts";
import { anEnd, aPass, aProcess, aScript, aStart, aTask } from "../../support/graph-builder.ts";
import { aNew, aProgram, committed, frozen, givenAt, play } from "../../support/play.ts";

const chain = aProcess(
  [aStart(), aTask("charge"), aTask("ship", { headers: { carrier: "fast" } }), anEnd()],
  ["start -> charge -> ship -> end"],
);

describe("a sequence", () => {
  test("runs to its first task and waits there", async () => {
    const order = await play(chain, { variables: { amount: 3 } });

    expect(order.open).toEqual(["task charge"]);
    expect(order.active).toEqual(["charge"]);
    expect(order.status).toBe("live");
    expect(order.task("charge")).toMatchObject({ type: "charge", attempt: 1, retries: 3 });
  });

  test("S1: ends succeeded, with nothing open, when its last element completes", async () => {
    const order = await play(chain, { variables: { amount: 3 } });
    await order.complete("charge", { receipt: "r-1" });
    await order.complete("ship");

    expect(order.status).toBe("succeeded success");
    expect(order.instance.tickets).toEqual([]);
    expect(order.active).toEqual([]);
    expect(order.instance.completed).toEqual(["start", "charge", "ship", "end"]);
    expect(order.program.runner.result(order.instance)).toEqual({ amount: 3, receipt: "r-1" });
  });

  test("records its history in order, without values", async () => {
    const order = await play(chain, { variables: { amount: 3 } });
    await order.complete("charge", { receipt: "secret" });

    expect(order.trail).toEqual([
      "started",
      "element-entered start",
      "element-completed start",
      "flow-taken start -> charge",
      "element-entered charge",
      "task-completed charge",
      "element-completed charge",
      "flow-taken charge -> ship",
      "element-entered ship",
    ]);
    expect(JSON.stringify(order.instance.trail)).not.toContain("secret");
  });

  test("F67: gives a task all variables that it can see, and its headers", async () => {
    const order = await play(chain, { variables: { amount: 3 } });
    await order.complete("charge", { receipt: "r-1" });

    const input = order.program.runner.taskInput(order.instance, order.task("ship"));

    expect(input).toEqual({
      variables: { amount: 3, receipt: "r-1" },
      headers: { carrier: "fast" },
    });
  });

  test("passes straight through elements that do nothing", async () => {
    const definition = aProcess(
      [aStart(), aPass("note"), aScript("sum", "total = price * 2"), anEnd()],
      ["start -> note -> sum -> end"],
    );

    const order = await play(definition, { variables: { price: 21 } });

    expect(order.status).toBe("succeeded success");
    expect(order.variables).toEqual({ price: 21, total: 42 });
  });

  test("without an outgoing flow ends there", async () => {
    const order = await play(aProcess([aStart(), aTask("only")], ["start -> only"]));

    await order.complete("only");

    expect(order.status).toBe("succeeded success");
  });

  test("keeps its state as small as its open elements, however far it has come", async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `task${index}`);
    const ten = aProcess(
      [aStart(), ...ids.map((id) => aTask(id))],
      [["start", ...ids].join(" -> ")],
    );
    const order = await play(ten);

    for (const id of ids) {
      expect(JSON.stringify(order.instance.state).length).toBeLessThan(120);
      await order.complete(id);
    }

    expect(order.status).toBe("succeeded success");
  });

  test("separates variable names from the properties of every object", async () => {
    const variables = frozen(JSON.parse('{ "__proto__": 1, "constructor": 2 }'));
    const order = await play(aProcess([aStart(), aTask("only")], ["start -> only"]), { variables });

    await order.complete("only", JSON.parse('{ "__proto__": 3 }'));

    expect(JSON.stringify(order.variables)).toBe('{"__proto__":3,"constructor":2}');
  });
});

describe("the graph runner", () => {
  test("runs only graphs", () => {
    const body = { runner: "code", program: { workflow: "w", engine: "none" } } as const;

    expect(() => graphRunner({ ...chain, body })).toThrow('for the runner "code"');
  });

  test("shows nothing of an instance that never ran", () => {
    const program = aProgram(chain);

    const view = program.runner.view(aNew(program));

    expect(view).toEqual({ variables: {}, tokens: [] });
  });

  test("shows each active element once, however many tokens are on it", async () => {
    const twice = aProcess([aStart(), aTask("same")], ["start -> same"]);
    const doubled = aProcess(
      [aStart(), aPass("a"), aPass("b"), aTask("same")],
      ["start -> a -> same", "start -> b -> same"],
    );

    const { active } = await play(twice);
    const many = await play(doubled);

    expect(active).toEqual(["same"]);
    expect(many.open).toEqual(["task same", "task same"]);
    expect(many.active).toEqual(["same"]);
  });

  test.each([
    ["an element that the definition does not have", { node: "gone" }, 'no element "gone"'],
    ["a task where there is none", { node: "start" }, '"start" of process is no task'],
    ["no token for the ticket", { id: 7 }, "no token 2"],
  ])("raises an incident for a state that names %s", async (_, change, message) => {
    const order = await play(chain);
    const state = JSON.parse(JSON.stringify(order.instance.state));
    Object.assign(state.tokens[1], change);
    order.instance = committed({ ...order.instance, state });

    await order.fail("charge");

    expect(order.incident("charge").type).toBe("UNKNOWN");
    expect(order.incident("charge").message).toContain(message);
  });

  test("throws when it gets an outcome that does not fit its ticket", async () => {
    const order = await play(chain);
    const { id } = order.task("charge");
    const { runner } = order.program;

    const wrong = runner.resume(
      draftOf(order.instance, givenAt(order.now)),
      { kind: "timer-due", ticket: id },
      order.task("charge"),
    );

    await expect(wrong).rejects.toThrow("A timer-due cannot be the outcome of the task");
  });
});
