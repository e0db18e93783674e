import { describe, expect, test } from "vitest";
import { declarationOf, declarationsOf } from "../../../lib/frontends/code/declarations.ts";

/** A map that has every place of the bundle in a file of the same lines, but for those of the tool. */
const map = {
  originalOf: (line: number, column: number) =>
    line === 1 ? undefined : { file: "order.ts", line, column },
};

const find = (kind: "workflow" | "step", name: string, ...lines: readonly string[]) =>
  declarationOf({ source: lines.join("\n"), map }, kind, name);

describe("the place of a declaration in a bundle", () => {
  test("is the call that has the name as its first argument", () => {
    const lines = ['step("pack");', 'const a = task("pack");', '  const b = step("pack", void 0);'];

    expect(find("step", "pack", ...lines)).toEqual({ file: "order.ts", line: 3, column: 13 });
    expect(find("workflow", "pack", ...lines)).toBeUndefined();
  });

  test("is found where the bundler has numbered the function", () => {
    expect(find("workflow", "a b", "", 'var order = workflow2("a b", async () => 1);')).toEqual({
      file: "order.ts",
      line: 2,
      column: 13,
    });
  });

  test("is not a method, nor another function whose name ends alike", () => {
    expect(find("step", "x", "", 'a.step("x"); footstep("x"); step ("x");')).toBeUndefined();
  });

  test("is unknown where the name is not written out", () => {
    expect(find("step", 'with "quotes"', "", "step('with \"quotes\"')")).toBeUndefined();
  });

  test("may be one of several", () => {
    const source = ["", 'workflow("a", one);', 'workflow2("a", two);'].join("\n");

    const found = declarationsOf({ source, map }, "workflow", "a");

    expect(found.map(({ line }) => line)).toEqual([2, 3]);
  });
});
