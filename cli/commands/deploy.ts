import { ApiError, type DeployedView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { diagnosticLine } from "../diagnostic-line.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { readSource } from "../read-source.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Deploys workflows to a server; a refused file does not stop the others. */
export const deploy = command({
  name: "deploy",
  summary: "deploy workflows from files",
  operands: ["FILE…"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands, terminal }) => {
    const client = clientFor(values, terminal);
    const sources = operands.map((file) => ({ file, source: readSource(file) }));
    let isRefused = false;
    for (const { file, source } of sources) {
      try {
        const { created, ...answer } = await client.deploy(source);
        if (values.json) printJson(terminal, answer);
        else for (const line of linesOf(file, created, answer.definitions)) terminal.print(line);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "definition/invalid") throw error;
        isRefused = true;
        if (values.json) terminal.complain(JSON.stringify(error.problem));
        else for (const entry of error.errors) terminal.complain(diagnosticLine(file, entry));
      }
    }
    return isRefused ? EXIT.refused : EXIT.ok;
  },
});

function linesOf(
  file: string,
  created: boolean,
  definitions: readonly DeployedView[],
): readonly string[] {
  return definitions.flatMap(({ id, version, warnings }) => [
    `${file}: ${id} version ${version} ${created ? "deployed" : "is unchanged"}`,
    ...warnings.map((warning) => diagnosticLine(file, warning)),
  ]);
}
