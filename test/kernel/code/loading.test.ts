import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import type { Loaded, Sandbox } from "../../../lib/definition/sandbox.ts";
import { codeRunners } from "../../../lib/kernel/code/code-runner.ts";
import { done, incidentsOf, resultOf } from "../../support/code-play.ts";
import { aBody, aCodeDefinition, aGuest } from "../../support/code-workflow.ts";
import { aNew, BEGIN, play } from "../../support/play.ts";

describe("runners of definitions in code", () => {
  const loading = (answers: readonly (() => Promise<Loaded>)[]) => {
    const seen = { loads: 0 };
    const sandbox: Sandbox = {
      engine: "fake",
      load: () => {
        const answer = answers[seen.loads++];
        if (answer === undefined) throw new Error("It is loaded too often.");
        return answer();
      },
      close: async () => {},
    };
    return { seen, sandbox };
  };
  const real = async (): Promise<Loaded> => ({
    ok: true,
    program: await aGuest(aBody('return task("a");')),
  });
  const source = async () => "the bundle";

  test("load a bundle once, when it is needed", async () => {
    const { seen, sandbox } = loading([real]);
    const definition = aCodeDefinition();
    const program = { definition, runner: codeRunners(sandbox)(definition, source) };
    const before = seen.loads;

    const orders = await Promise.all([play(program), play(program, { as: { id: "i2" } })]);
    for (const order of orders) await done(order, "a", 1);

    expect([before, seen.loads]).toEqual([0, 1]);
    expect(orders.map(resultOf)).toEqual([1, 1]);
  });

  test("R17: load it again after it could not be loaded, or not be used", async () => {
    const { sandbox } = loading([
      () => Promise.reject(new Error("no memory")),
      async () => ({ ok: false, problem: { message: "it threw" } }),
      real,
    ]);
    const definition = aCodeDefinition();
    const order = await play({ definition, runner: codeRunners(sandbox)(definition, source) });
    const first = incidentsOf(order);

    await order.resolve("workflow");
    const second = incidentsOf(order);
    await order.resolve("workflow");

    expect(first).toEqual(["UNKNOWN: no memory"]);
    expect(second).toEqual(["UNKNOWN: The bundle could not be loaded: it threw"]);
    expect(order.open).toEqual(["task a"]);
  });

  test("load it again, without an incident, when others have ended the thread meanwhile", async () => {
    const lost = async (): Promise<Loaded> => ({
      ok: false,
      problem: { message: "The sandbox was restarted.", stopped: "lost" },
    });
    const { seen, sandbox } = loading([lost, lost, lost, lost, real]);
    const definition = aCodeDefinition();

    const order = await play({ definition, runner: codeRunners(sandbox)(definition, source) });

    expect([seen.loads, order.open, incidentsOf(order)]).toEqual([5, ["task a"], []]);
  });

  test("are for code only", () => {
    const { sandbox } = loading([]);
    const body = { runner: "graph" } as never;

    expect(() => codeRunners(sandbox)({ ...aCodeDefinition(), body }, source)).toThrow("runs code");
  });

  test("give what every runner gives", () => {
    const { sandbox } = loading([]);
    const definition = aCodeDefinition();
    const runner = codeRunners(sandbox)(definition, source);
    const variables: Record<string, Json> = { amount: 3 };
    const call = { on: "child", id: "c1.1", ref: 1, element: "a", since: BEGIN } as const;

    const called = runner.callInput(aNew({ definition }), { ...call, process: "p", variables });

    expect(called).toEqual(variables);
    expect(runner.result(aNew({ definition }))).toBeNull();
    expect(runner.places({ i: 1, d: "", o: [], r: { x: 1 } })).toEqual([["i"], ["r"]]);
  });
});
