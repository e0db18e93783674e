import type { Client } from "../../lib/client/index.ts";
import { allFindings, askAbout } from "../code-findings.ts";
import { command } from "../command.ts";
import { diagnosticLine } from "../diagnostic-line.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { type ReadSource, readSource } from "../read-source.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Validates workflows and stores nothing. */
export const validate = command({
  name: "validate",
  summary: "check workflows without deploying them",
  operands: ["FILE…"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands, terminal }) => {
    const client = clientFor(values, terminal);
    const sources = await Promise.all(operands.map(readSource));
    let areAllValid = true;
    for (const source of sources) {
      const answer = await validateOne(client, source);
      areAllValid &&= answer.valid;
      if (values.json) {
        printJson(terminal, answer);
        continue;
      }
      const { file } = source;
      for (const diagnostic of answer.diagnostics) terminal.print(diagnosticLine(file, diagnostic));
      if (answer.valid) terminal.print(`${file}: valid`);
    }
    return areAllValid ? EXIT.ok : EXIT.refused;
  },
});

type Validation = Awaited<ReturnType<Client["validate"]>>;

async function validateOne(client: Client, source: ReadSource): Promise<Validation> {
  if ("source" in source) return client.validate(source.source);
  if (source.isRefused || source.bundle === undefined) {
    return { valid: false, diagnostics: allFindings(source, await askAbout(client, source)) };
  }
  const { valid, diagnostics } = await client.validateCode(source.bundle);
  return { valid, diagnostics: allFindings(source, diagnostics) };
}
