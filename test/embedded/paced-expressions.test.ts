import { describe, expect, test } from "vitest";
import { type Evaluation, FEEL } from "../../lib/definition/expression.ts";
import { pacedExpressions } from "../../lib/embedded/paced-expressions.ts";

/** A language whose expressions say how many milliseconds they take, and a thread that runs it. */
function aThread() {
  let now = 0;
  const evaluated: string[] = [];
  const pauses: { ms: number; end: () => void }[] = [];
  const language = {
    check: () => undefined,
    variablesOf: () => [],
    evaluate: (text: string): Evaluation => {
      now += Number(text);
      evaluated.push(text);
      return { ok: true, value: text, warnings: [] };
    },
  };
  const thread = {
    now: () => now,
    pause: (ms: number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      pauses.push({ ms, end: resolve });
      return promise;
    },
  };
  const paced = pacedExpressions(new Map([[FEEL, language]]), thread).get(FEEL);
  const evaluate = async (text: string) =>
    paced?.evaluate(text, () => undefined, { now: 0, seed: "s" });
  return { evaluate, evaluated, pauses };
}

const otherCallbacks = () => new Promise((resolve) => setImmediate(resolve));

describe("expressions on the thread that handles requests", () => {
  test("are evaluated at once while none takes long", async () => {
    const { evaluate, evaluated, pauses } = aThread();

    const results = await Promise.all([evaluate("1"), evaluate("49"), evaluate("2")]);

    expect(results).toContainEqual({ ok: true, value: "49", warnings: [] });
    expect(evaluated).toEqual(["1", "49", "2"]);
    expect(pauses).toEqual([]);
  });

  test("yield the thread after a long one, for as long as it took", async () => {
    const { evaluate, evaluated, pauses } = aThread();
    await evaluate("1000");

    const next = evaluate("1");
    await otherCallbacks();

    expect(pauses.map(({ ms }) => ms)).toEqual([1_000]);
    expect(evaluated).toEqual(["1000"]);
    pauses[0]?.end();
    await next;
    expect(evaluated).toEqual(["1000", "1"]);
  });

  test("that are long and due together run one by one, each after a pause", async () => {
    const { evaluate, evaluated, pauses } = aThread();

    const all = Promise.all(["1000", "1001", "1002"].map(evaluate));
    await otherCallbacks();
    expect(evaluated).toEqual(["1000"]);
    pauses[0]?.end();
    await otherCallbacks();
    expect(evaluated).toEqual(["1000", "1001"]);
    pauses[1]?.end();

    await all;
    expect(evaluated).toEqual(["1000", "1001", "1002"]);
    expect(pauses.map(({ ms }) => ms)).toEqual([1_000, 1_001, 1_002]);
  });
});
