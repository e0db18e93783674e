import { describe, expect, test } from "vitest";
import { extensions, inTurn, job, loop, sequence, start, xml } from "../../support/bpmn-xml.ts";
import { nodeOf } from "./compiling.ts";

const task = (...marker: readonly string[]) =>
  sequence(xml("serviceTask", { id: "t" }, extensions(job()), ...marker));

describe("a multi-instance marker", () => {
  test("defines the list, the output collection and the completion condition (F58)", async () => {
    const source = task(
      loop(
        {
          inputCollection: "=items",
          inputElement: "item",
          outputCollection: "results",
          outputElement: "=result.value",
        },
        xml("completionCondition", {}, "  =numberOfCompletedInstances = 2  "),
      ),
    );

    const { loop: compiled } = await nodeOf(source, "t");

    expect(compiled).toEqual({
      collection: { kind: "feel", text: "items" },
      element: "item",
      output: {
        collection: "results",
        element: { kind: "feel", text: "result.value" },
        preset: "result",
      },
      until: { kind: "feel", text: "numberOfCompletedInstances = 2" },
    });
  });

  test("may be on a sub-process, in sequence (F58)", async () => {
    const marker = inTurn({ inputCollection: "=items" });

    const { loop: compiled } = await nodeOf(
      sequence(xml("subProcess", { id: "s" }, start("i"), marker)),
      "s",
    );

    expect(compiled).toEqual({ sequential: true, collection: { kind: "feel", text: "items" } });
  });

  test("presets no variable that is the entry itself, nor one that is computed (F58)", async () => {
    const of = (outputElement: string) => ({
      inputCollection: "=items",
      inputElement: "item",
      outputCollection: "results",
      outputElement,
    });

    const entry = await nodeOf(task(loop(of("=item"))), "t");
    const computed = await nodeOf(task(loop(of("=item + 1"))), "t");

    expect(entry.loop?.output?.preset).toBeUndefined();
    expect(computed.loop?.output?.preset).toBeUndefined();
  });

  test.each([
    [
      "3",
      "if (3) < 1 then [] else if floor(3) = (3) then for each in 1..(3) return each else null",
    ],
    [
      "=n + 1",
      "if (n + 1) < 1 then [] else if floor(n + 1) = (n + 1) then for each in 1..(n + 1) return each else null",
    ],
  ])("counts from 1 if it has a cardinality of %s instead of a list (F58)", async (text, feel) => {
    const { loop: compiled } = await nodeOf(task(loop({}, xml("loopCardinality", {}, text))), "t");

    expect(compiled).toEqual({ collection: { kind: "feel", text: feel } });
  });
});
