import { command } from "../command.ts";
import { receiptFacts } from "../describe-receipt.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Shows the receipt of a broadcast. */
export const receipt = command({
  name: "receipt",
  summary: "show the receipt of a signal or of a broadcast event",
  operands: ["ID"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands: [broadcastId = ""], terminal }) => {
    const found = await clientFor(values, terminal).receipt(broadcastId);
    if (values.json) printJson(terminal, found);
    else printFacts(terminal, receiptFacts(found));
    return EXIT.ok;
  },
});
