import { describe, expect, test } from "vitest";
import { MAX_PROCESSES_PER_SOURCE, MAX_SOURCE_BYTES } from "../../../lib/definition/limits.ts";
import { codeCompiler } from "../../../lib/frontends/code/compiler.ts";

/** Compiles a bundle that declares so many workflows. */
const compile = (source: string, count = 1) => {
  const workflows = Array.from({ length: count }, (_, n) => `w${n}`);
  const program = { declared: { workflows, steps: [] }, open: () => never() };
  const load = async () => ({ ok: true, program }) as const;
  return codeCompiler({ sandbox: { engine: "none", load, close: async () => {} } })(source);
};

const never = (): never => {
  throw new Error("A compiler opens no session.");
};

describe("compiling a bundle", () => {
  test("takes the largest, and refuses one with a byte more", async () => {
    const largest = `"${"x".repeat(MAX_SOURCE_BYTES - 4)}";\n`;

    expect(await compile(largest)).toMatchObject({ ok: true });
    expect(await compile(`${largest}\n`)).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/too-large", message: expect.stringContaining("1048577 bytes") }],
    });
  });

  test("takes as many workflows as a source may have, and refuses one more", async () => {
    expect(await compile("1;", MAX_PROCESSES_PER_SOURCE)).toMatchObject({ ok: true });
    expect(await compile("1;", MAX_PROCESSES_PER_SOURCE + 1)).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/too-many-workflows" }],
    });
  });
});
