import { expect, test } from "vitest";
import { anEngine } from "../../support/embedded.ts";
import { aWorkflow, run, workflowsIn } from "../../support/workflow-files.ts";

const WRONG = [
  ["{ retries: 3 }", 'there is no option "retries". There are retry, timeout.'],
  [
    '{ heartbeat: "30s" }',
    'there is no option "heartbeat". There are retry, timeout. An attempt that hangs is ended by the timeout;',
  ],
  ["{ retry: { attempts: 3 } }", 'there is no option "attempts". There are maxAttempts,'],
  ["{ retry: { maxAttempts: Infinity } }", "maxAttempts: write a whole number from 1."],
  ['{ retry: { backoff: "soon" } }', '"soon" is not a duration.'],
  ['{ timeout: "soon" }', '"soon" is not a duration.'],
] as const;

test.each(WRONG)("a file with a step that has the options %s is refused", async (options, told) => {
  const file = `export const s = step("s", async () => 1, ${options} as any);\n${aWorkflow("return s();")}`;

  const opened = anEngine({ workflows: workflowsIn({ "w.ts": file }) });

  await expect(opened).rejects.toMatchObject({
    code: "definition/invalid",
    message: expect.stringContaining(told),
  });
});

test.each(WRONG)("a call with the options %s throws", async (options, told) => {
  const file = aWorkflow(`return task("t", null, ${options} as any);`);
  const engine = await anEngine({ workflows: workflowsIn({ "w.ts": file }) });

  const { status, error } = await run(engine);

  expect(status).toBe("failed");
  expect(error?.message).toContain(told);
});
