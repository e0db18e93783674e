import { expect, test } from "vitest";
import { anEngine } from "../../support/embedded.ts";
import { aWorkflow, bundleOf, run } from "../../support/workflow-files.ts";

test("the engine serves others while it analyses a large bundle", async () => {
  const engine = await anEngine({});
  await engine.deploy({ notation: "code", source: await bundleOf(aWorkflow("return 1;")) });
  const large = `var a;${"a=a;".repeat(200_000)}fetch();`;
  const order: string[] = [];

  const validating = engine.validate({ notation: "code", source: large }).finally(() => {
    order.push("validated");
  });
  const { result } = await run(engine);
  order.push("run");
  const { valid, diagnostics } = await validating;

  expect(order).toEqual(["run", "validated"]);
  expect({ result, valid }).toEqual({ result: 1, valid: false });
  expect(diagnostics).toMatchObject([{ code: "code/not-in-workflow" }]);
});
