import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { PAIRS, PAYLOAD_NOTE, PAYLOAD_OPTION, parsePayload } from "../parse-payload.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

/** Sets variables of a live instance. */
export const set = command({
  name: "set",
  summary: "set variables of a live instance, without continuing it",
  operands: ["INSTANCE", PAIRS],
  options: {
    ...PAYLOAD_OPTION,
    scope: { type: "string", value: "ELEMENT", help: "set local variables of this open element" },
    ...SERVER_OPTIONS,
  },
  notes: PAYLOAD_NOTE,
  run: async ({ values, operands: [instanceId = "", ...pairs], terminal }) => {
    const variables = parsePayload({ payload: values.payload, pairs });
    if (variables === undefined) {
      throw new UsageError("VARIABLE=VALUE is missing. Usage: `fermata set --help`.");
    }
    const { scope } = values;
    const patch = { variables, ...(scope !== undefined && { scope }) };
    const answer = await clientFor(values, terminal).patchVariables(instanceId, patch);
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${instanceId}: ${Object.keys(variables).join(", ")} set`);
    return EXIT.ok;
  },
});
