import { describe, expect, test } from "vitest";
import { handler } from "../../functions/compile/index.ts";
import { sequence, service } from "../support/bpmn-xml.ts";

describe("the compile function", () => {
  test("returns a result that round-trips through JSON", async () => {
    const compiled = await handler({ notation: "bpmn", source: sequence(service("work")) });

    expect(compiled).toMatchObject({ ok: true, processes: [{ id: "p" }] });
    expect(JSON.parse(JSON.stringify(compiled))).toEqual(compiled);
  });

  test("returns diagnostics if the source is wrong", async () => {
    const compiled = await handler({ notation: "bpmn", source: "<nonsense" });

    expect(compiled.ok).toBe(false);
    expect(compiled.diagnostics.length).toBeGreaterThan(0);
  });

  test.each([
    ["another notation", { notation: "dance", source: "x" }],
    ["no source", { notation: "bpmn" }],
    ["nothing", null],
  ])("refuses %s", async (_, event) => {
    await expect(handler(event)).rejects.toThrow("does not compile");
  });
});
