import { describe, expect, test } from "vitest";
import { feelLanguage } from "../../../lib/adapters/feelin/feel-expressions.ts";
import type { Definition } from "../../../lib/definition/definition.ts";
import {
  type Computed,
  type ExpressionLanguage,
  type Expressions,
  FEEL,
} from "../../../lib/definition/expression.ts";
import { aChoice, anEnd, aProcess, aStart, aTask, aUserTask } from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";

/**
 * A language with two operators: `is NAME` and `not NAME`. It is asynchronous, and gives null for
 * unset names.
 */
const words: ExpressionLanguage = {
  check: () => undefined,
  variablesOf: (text) => text.split(" ").slice(1),
  evaluate: async (text, lookup) => {
    const [word, name = ""] = text.split(" ");
    await Promise.resolve();
    if (word !== "is" && word !== "not") return { ok: false, problem: `"${word}" is no word.` };
    const value = lookup(name) ?? null;
    return { ok: true, value: word === "is" ? value : value === false, warnings: [] };
  },
};

const expressions: Expressions = new Map([
  [FEEL, feelLanguage()],
  ["words", words],
]);

const inWords = (text: string): Computed => ({ kind: "feel", text, language: "words" });

/** The definition with these expressions in place of its own. */
function withExpressions(
  definition: Definition,
  said: Readonly<{ condition?: Computed; output?: Computed }>,
): Definition {
  if (definition.body.runner !== "graph") throw new Error("It has no graph.");
  const { graph } = definition.body;
  const { condition, output } = said;
  const flows = graph.flows.map((flow) =>
    flow.condition && condition ? { ...flow, condition } : flow,
  );
  const nodes = graph.nodes.map((node) =>
    node.outputs && output
      ? { ...node, outputs: node.outputs.map(({ target }) => ({ target, source: output })) }
      : node,
  );
  return { ...definition, body: { runner: "graph", graph: { nodes, flows } } };
}

const choosing = aProcess(
  [aStart(), aChoice("choice", "choice -> other"), aTask("one"), aTask("other"), anEnd()],
  ["start -> choice", "choice -> one if true", "choice -> other", "one -> end", "other -> end"],
);
const mapping = aProcess(
  [aStart(), aTask("work", { outputs: { result: "=nothing" } }), aTask("after")],
  ["start -> work -> after"],
);

describe("an expression with a named language", () => {
  test.each([
    [false, "task one"],
    [true, "task other"],
  ])("decides a gateway, reading %s, and is awaited", async (off, open) => {
    const definition = withExpressions(choosing, { condition: inWords("not off") });

    const order = await play(definition, { expressions, variables: { off } });

    expect(order.open).toEqual([open]);
  });

  test("can be combined with FEEL", async () => {
    const definition = withExpressions(mapping, { output: inWords("is answer") });
    const order = await play(definition, { expressions });

    await order.complete("work", { answer: 42 });

    expect(order.variables).toEqual({ result: 42 });
  });

  test("is an incident when it fails, like any other", async () => {
    const definition = withExpressions(mapping, { output: inWords("perhaps answer") });
    const order = await play(definition, { expressions });

    await order.complete("work");

    expect(order.incident("work")).toMatchObject({
      type: "IO_MAPPING_ERROR",
      message: expect.stringContaining('"perhaps" is no word.'),
    });
  });

  test("is an incident if the language is unknown, with the known ones", async () => {
    const definition = withExpressions(choosing, { condition: inWords("not off") });

    const order = await play(definition, { variables: { off: true } });

    expect(order.incident("choice")).toMatchObject({
      type: "EXTRACT_VALUE_ERROR",
      message: 'The expression language "words" is not known here. Use one of: "feel".',
    });
  });

  test("names no required variable, unless it is FEEL", async () => {
    const asking = aProcess(
      [aStart(), aUserTask("ask", {}, { outputs: { result: "=answer" } })],
      ["start -> ask"],
    );
    const other = withExpressions(asking, { output: inWords("answer") });
    const same = withExpressions(asking, {
      output: { kind: "feel", text: "answer", language: FEEL },
    });

    const needs = await Promise.all(
      [asking, same, other].map(async (definition) => {
        const order = await play(definition, { expressions });
        return order.program.runner.taskInput(order.instance, order.task("ask")).needs;
      }),
    );

    expect(needs).toEqual([["answer"], ["answer"], undefined]);
  });
});
