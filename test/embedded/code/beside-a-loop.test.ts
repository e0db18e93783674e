import { expect, test } from "vitest";
import { anEngine } from "../../support/embedded.ts";
import { aWorkflow, workflowsIn } from "../../support/workflow-files.ts";

/** Native code without end for every practical purpose, which never asks whether it may go on. */
const DEAF = `"a".repeat(4_000_000).indexOf("a".repeat(2_000_000) + "b");`;

test("R23 loops that end the sandbox are incidents of their own instances, and of no others", async () => {
  const engine = await anEngine({
    workflows: workflowsIn({
      "deaf.ts": aWorkflow(`${DEAF}\nreturn 1;`, "deaf"),
      "quick.ts": aWorkflow('return "quick " + input;', "quick"),
      "waiting.ts": aWorkflow('await event("go");\nreturn "woken";', "waiting"),
    }),
  });
  await engine.start("waiting", { instanceId: "wakes", input: null });
  await engine.idle();

  await Promise.all([
    ...["d1", "d2", "d3", "d4"].map((id) => engine.start("deaf", { instanceId: id, input: null })),
    engine.start("quick", { instanceId: "q1", input: 1 }),
    engine.event({ name: "go", target: "wakes" }),
  ]);
  await engine.idle();

  expect(await engine.result("q1")).toMatchObject({ result: "quick 1" });
  expect(await engine.result("wakes")).toMatchObject({ result: "woken" });
  const deaf = await Promise.all(["d1", "d2", "d3", "d4"].map((id) => engine.get(id)));
  expect(deaf.map(({ incidents }) => incidents.map(({ type }) => type))).toEqual(
    deaf.map(() => ["STEP_LIMIT"]),
  );
}, 60_000);
