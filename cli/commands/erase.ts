import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Erases an ended instance before its retention period is over. */
export const erase = command({
  name: "erase",
  summary: "erase an instance that has ended, with its values and its history",
  operands: ["ID"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands: [instanceId = ""], terminal }) => {
    await clientFor(values, terminal).erase(instanceId);
    if (values.json) printJson(terminal, { erased: true });
    else terminal.print(`${instanceId} is erased`);
    return EXIT.ok;
  },
});
