import { describe, expect, test } from "vitest";
import type { Json } from "../../lib/definition/json.ts";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import { extensions, file, inTurn, loop, xml } from "../support/bpmn-xml.ts";
import { line, working } from "../support/call-xml.ts";
import { anEngine } from "../support/embedded.ts";

const tasks = { twice: ({ n }: Readonly<Record<string, Json>>) => ({ n: Number(n) * 2 }) };

const OVER = {
  inputCollection: "=items",
  inputElement: "n",
  outputCollection: "doubled",
  outputElement: "=n",
};

const looping = (marker: string) =>
  file(
    line("caller", [
      xml(
        "callActivity",
        { id: "call" },
        extensions(xml("zeebe:calledElement", { processId: "double" })),
        marker,
      ),
    ]),
    line("double", [working("twice")]),
  );

describe("a call activity for each entry of a list", () => {
  test.each([
    ["all at once", loop(OVER), 5],
    ["one after the other", inTurn(OVER), 5],
    ["a thousand, of which the caller takes ten at a time", loop(OVER), 1_000],
  ])(
    "F57 F58 gives each child its own entry, and collects their results: %s",
    async (_, marker, many) => {
      const engine = await anEngine({ source: looping(marker), tasks });
      const items = Array.from({ length: many }, (_, n) => n);

      const { instanceId } = await engine.start("caller", { variables: { items } });
      const { status, variables } = await engine.result(instanceId);

      expect(status).toBe("succeeded");
      expect(variables.doubled).toEqual(items.map((n) => n * 2));
      const parents = await parentsOf(engine, "double");
      expect(parents).toHaveLength(many);
      expect(new Set(parents)).toEqual(new Set([instanceId]));
    },
  );
});

/** Whose child each instance of a definition is. */
async function parentsOf(engine: EmbeddedEngine, definition: string) {
  const parents: (string | undefined)[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await engine.list({ definition, limit: 200, ...(cursor && { cursor }) });
    parents.push(...page.items.map(({ parent }) => parent?.instanceId));
    cursor = page.nextCursor;
    if (cursor === undefined) return parents;
  }
}
