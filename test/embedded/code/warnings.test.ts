import { describe, expect, onTestFinished, test } from "vitest";
import type { Diagnostic } from "../../../lib/definition/diagnostic.ts";
import { anEngine } from "../../support/embedded.ts";
import { aWorkflow, run, workflowsIn } from "../../support/workflow-files.ts";

/** Has two flaws: no handler runs the step, and a native race does not cancel its losers. */
const SUSPICIOUS = `const hidden = step("hidden", async () => 1);
${aWorkflow('return Promise.race([hidden(), delay("1s")]);')}`;

describe("warnings about workflow files", () => {
  test("D21 are told when the engine opens, each once", async () => {
    const warnings: Diagnostic[] = [];
    const workflows = workflowsIn({ "w.ts": SUSPICIOUS });

    await anEngine({ workflows, onWarning: (warning) => warnings.push(warning) });

    expect(warnings).toMatchObject([
      { severity: "warning", code: "code/native-promise", file: "w.ts", line: 4 },
      { severity: "warning", code: "code/not-exported", file: "w.ts", line: 2 },
      {
        severity: "warning",
        code: "code/step-without-handler",
        file: "w.ts",
        line: 2,
        message: expect.stringMatching(/"hidden"/),
      },
    ]);
  });

  test("are emitted as process warnings without an onWarning callback", async () => {
    const heard: (Error & { code?: string })[] = [];
    const listen = (warning: Error) => heard.push(warning);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));

    await anEngine({ workflows: workflowsIn({ "w.ts": SUSPICIOUS }) });
    await new Promise(setImmediate);

    expect(heard.map(({ name, code }) => [name, code])).toEqual([
      ["FermataWarning", "code/native-promise"],
      ["FermataWarning", "code/not-exported"],
      ["FermataWarning", "code/step-without-handler"],
    ]);
  });

  test("are told about a file that exports nothing", async () => {
    const warnings: Diagnostic[] = [];
    const workflows = workflowsIn({ "w.ts": aWorkflow("return 1;").replace("export ", "") });

    await anEngine({ workflows, onWarning: (warning) => warnings.push(warning) });

    expect(warnings).toMatchObject([{ code: "code/not-exported", file: "w.ts", line: 2 }]);
  });

  test("are not needed for a step that only a run declares: the instance fails and says why", async () => {
    const workflows = workflowsIn({
      "w.ts": `const tools = { make: () => step("inner", async () => 1) };
        ${aWorkflow("return tools.make()();")}`,
    });
    const engine = await anEngine({ workflows });

    const { status, error } = await run(engine);

    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/"inner" is declared inside a workflow.*export it/) },
    });
  });
});
