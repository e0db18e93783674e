import { describe, expect, test } from "vitest";
import { feelLanguage } from "../../../lib/adapters/feelin/feel-expressions.ts";
import { type Budget, type ExpressionLanguage, FEEL } from "../../../lib/definition/expression.ts";
import {
  MAX_MEMBERS_APART,
  MAX_PATTERN_MS_PER_DECISION,
  MAX_WORK_PER_DECISION,
} from "../../../lib/definition/limits.ts";
import { aLoop, aProcess, aScript, aStart, aTask } from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";

const feel = feelLanguage();
const several = (count: number) => Array.from({ length: count }, (_, n) => n);

/** FEEL in which `costly` spends this much in addition; records what every evaluation had left. */
function spending(cost: Partial<Budget>) {
  const had: (Budget | undefined)[] = [];
  const language: ExpressionLanguage = {
    ...feel,
    evaluate: (text, lookup, given) => {
      had.push(given.budget && { ...given.budget });
      if (given.budget && text.includes("costly")) {
        given.budget.work -= cost.work ?? 0;
        given.budget.patternMs -= cost.patternMs ?? 0;
      }
      return feel.evaluate(text, lookup, given);
    },
  };
  return { had, expressions: new Map([[FEEL, language]]) };
}

const mapped = (inputs: Readonly<Record<string, string>>, loop = aLoop()) =>
  aProcess([aStart(), aTask("a", { loop, inputs }), aTask("after")], ["start -> a -> after"]);

describe("the expressions of a decision", () => {
  test("share one budget, and the next decision has its own", async () => {
    const { had, expressions } = spending({ work: 10, patternMs: 1 });
    const order = await play(mapped({ n: "=costly" }), {
      variables: { items: [1, 2, 3], costly: 1 },
      expressions,
    });
    const first = had.length;
    await order.complete("a");

    expect(had[0]).toEqual({
      work: MAX_WORK_PER_DECISION,
      patternMs: MAX_PATTERN_MS_PER_DECISION,
    });
    expect(had[first - 1]?.patternMs).toBe(MAX_PATTERN_MS_PER_DECISION - 2);
    expect(had.slice(first).map((budget) => budget?.work)).not.toContain(undefined);
  });

  test("spend the time for patterns once, however many items a loop has", async () => {
    const pattern = "^(a|aa)+$(?=b)";
    const { had, expressions } = spending({});
    const order = await play(mapped({ found: "=matches(text, pattern)" }), {
      variables: { items: several(8), text: `${"a".repeat(60)}!`, pattern },
      expressions,
    });

    expect(order.open).toEqual(several(8).map(() => "incident a"));
    expect(had.filter((budget) => budget && budget.patternMs > 0)).toHaveLength(2);
    expect(order.incident("a")).toMatchObject({
      type: "IO_MAPPING_ERROR",
      message: expect.stringContaining("take too long to match"),
    });
  });

  test("raise an incident if a batch exceeds the budget", async () => {
    const { expressions } = spending({ work: MAX_WORK_PER_DECISION / 10 });
    const order = await play(mapped({ n: "=costly" }), {
      variables: { items: several(MAX_MEMBERS_APART + 1), costly: 1 },
      expressions,
    });

    expect(order.open).toEqual(["incident a"]);
    expect(order.incident("a").message).toContain(`more than ${MAX_WORK_PER_DECISION} steps`);
  });

  test("of automatic moves continue in the next step when half is spent", async () => {
    const { expressions } = spending({ work: MAX_WORK_PER_DECISION / 4 });
    const loop = aLoop({ gathers: "=item" });
    const process = aProcess(
      [aStart(), aScript("a", "r = costly", { loop }), aTask("after")],
      ["start -> a -> after"],
    );
    const order = await play(process, {
      variables: { items: several(MAX_MEMBERS_APART), costly: 1 },
      expressions,
    });
    const rounds = await order.goOn();

    expect(rounds).toBeGreaterThan(2);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables.results).toEqual(several(MAX_MEMBERS_APART));
  });
});

describe("a decision", () => {
  test("reports what its expressions have spent, also when it ends in an incident", async () => {
    const { expressions } = spending({ work: 1_000, patternMs: MAX_PATTERN_MS_PER_DECISION / 5 });
    const taken = await play(mapped({ n: "=costly" }), {
      variables: { items: [1], costly: 1 },
      expressions,
    });
    const light = await taken.complete("a");
    const again = await taken.decide({ kind: "started", input: { variables: {} } });

    expect(light.work).toBeLessThan(1_000);
    expect(again.work).toBeUndefined();
  });
});
