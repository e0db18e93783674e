import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAuthorFile } from "../../lib/bundler/author-file.ts";
import { applyEdits, type Edit } from "../../lib/bundler/edits.ts";
import { workflowPart } from "../../lib/bundler/workflow-part.ts";

const text = fc.string({
  unit: fc.constantFrom("a", " ", "\n", "\r", "é", "🎉", "{", "\u2028", '"'),
});
const blank = fc
  .record({
    ends: fc.tuple(fc.nat(60), fc.nat(60)),
    leave: fc.constantFrom("nothing" as const, "statement" as const, "undefined" as const),
  })
  .map(({ ends: [a, b], leave }): Edit => {
    return { kind: "blank", span: { start: Math.min(a, b), end: Math.max(a, b) }, leave };
  });

describe("blanking", () => {
  test("keeps every other character, and every line end, in its place", () => {
    fc.assert(
      fc.property(text, fc.array(blank, { maxLength: 1 }), (before, [edit]) => {
        if (edit?.kind !== "blank" || edit.span.end > before.length) return;
        const after = applyEdits(before, [edit]);
        const { start, end } = edit.span;

        expect(after.length).toBe(before.length);
        expect(after.slice(0, start)).toBe(before.slice(0, start));
        expect(after.slice(end)).toBe(before.slice(end));
        expect(after.replace(/[^\n\r\u2028]/g, " ")).toBe(before.replace(/[^\n\r\u2028]/g, " "));
        expect(after.slice(start, end)).toMatch(/^\s*(?:;|void 0|0)?\s*$/);
      }),
    );
  });

  test("leaves a step without its body as it was, to the column", () => {
    const body = fc.stringMatching(/^[a-z \n]{0,40}$/).map((one) => `async () => { /*${one}*/ }`);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(body, fc.constantFrom("f", "run")), { minLength: 1 }),
        (bodies) => {
          const lines = bodies.map(
            (one, at) => `export const s${at} = step("s${at}", ${one}, {}); s${at}();`,
          );
          const source = `import { step } from "fermata-engine/workflow";\n${lines.join("\n")}`;
          const file = parseAuthorFile("a.ts", source);
          const part = file === undefined ? "" : workflowPart(file, { isEntry: true });

          expect(part.length).toBe(source.length);
          expect(part.split("\n").length).toBe(source.split("\n").length);
          for (const [at] of bodies.entries()) {
            expect(part.indexOf(`s${at}();`)).toBe(source.indexOf(`s${at}();`));
          }
          expect(parseAuthorFile("a.ts", part)).toBeDefined();
        },
      ),
    );
  });
});
