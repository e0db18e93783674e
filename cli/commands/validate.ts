import { command } from "../command.ts";
import { diagnosticLine } from "../diagnostic-line.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { readSource } from "../read-source.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Validates workflows and stores nothing. */
export const validate = command({
  name: "validate",
  summary: "check workflows without deploying them",
  operands: ["FILE…"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands, terminal }) => {
    const client = clientFor(values, terminal);
    const sources = operands.map((file) => ({ file, source: readSource(file) }));
    let areAllValid = true;
    for (const { file, source } of sources) {
      const answer = await client.validate(source);
      areAllValid &&= answer.valid;
      if (values.json) {
        printJson(terminal, answer);
        continue;
      }
      for (const diagnostic of answer.diagnostics) terminal.print(diagnosticLine(file, diagnostic));
      if (answer.valid) terminal.print(`${file}: valid`);
    }
    return areAllValid ? EXIT.ok : EXIT.refused;
  },
});
