import { ApiError, type Client, type DeployedView } from "../../lib/client/index.ts";
import { allFindings, askAbout } from "../code-findings.ts";
import { command } from "../command.ts";
import { diagnosticLine, type Told } from "../diagnostic-line.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { type ReadSource, readSource } from "../read-source.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import type { Terminal } from "../terminal.ts";

/** Deploys workflows to a server; a refused file does not stop the others. */
export const deploy = command({
  name: "deploy",
  summary: "deploy workflows from files",
  operands: ["FILE…"],
  options: SERVER_OPTIONS,
  notes: "BPMN, or workflows in TypeScript or JavaScript, which are bundled first.",
  run: async ({ values, operands, terminal }) => {
    const client = clientFor(values, terminal);
    const sources = await Promise.all(operands.map(readSource));
    let isRefused = false;
    for (const source of sources) {
      const isDeployed = await deployOne(client, source, {
        terminal,
        isJson: values.json === true,
      });
      isRefused ||= !isDeployed;
    }
    return isRefused ? EXIT.refused : EXIT.ok;
  },
});

type Output = Readonly<{ terminal: Terminal; isJson: boolean }>;

/** Deploys one file, and tells what came of it; false: it was refused. */
async function deployOne(client: Client, source: ReadSource, output: Output): Promise<boolean> {
  const { terminal, isJson } = output;
  const { file } = source;
  if (!("source" in source) && source.isRefused) {
    const errors = allFindings(source, await askAbout(client, source));
    if (isJson) terminal.complain(JSON.stringify({ file, errors }));
    else for (const entry of errors) terminal.complain(diagnosticLine(file, entry));
    return false;
  }
  try {
    const { created, ...answer } = await send(client, source);
    if (isJson) printJson(terminal, answer);
    else for (const line of linesOf(source, created, answer.definitions)) terminal.print(line);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "definition/invalid") throw error;
    if (isJson) terminal.complain(JSON.stringify(error.problem));
    else {
      for (const entry of findingsOf(source, error.errors)) {
        terminal.complain(diagnosticLine(file, entry));
      }
    }
    return false;
  }
}

function send(client: Client, source: ReadSource) {
  return "source" in source ? client.deploy(source.source) : client.deployCode(source.bundle ?? "");
}

/** With what was found before the source was sent. */
function findingsOf(source: ReadSource, told: readonly Told[]): readonly Told[] {
  return "source" in source ? told : allFindings(source, told);
}

function linesOf(
  source: ReadSource,
  created: boolean,
  definitions: readonly DeployedView[],
): readonly string[] {
  const { file } = source;
  // Warnings are about the file: every definition in it has the same.
  const [first] = definitions;
  const warnings = findingsOf(source, first?.warnings ?? []);
  return [
    ...definitions.map(
      ({ id, version }) =>
        `${file}: ${id} version ${version} ${created ? "deployed" : "is unchanged"}`,
    ),
    ...warnings.map((warning) => diagnosticLine(file, warning)),
  ];
}
