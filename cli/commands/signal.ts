import type { SignalAnswer } from "../../lib/client/index.ts";
import { commandLine } from "../call-lines.ts";
import { command } from "../command.ts";
import { receiptFacts } from "../describe-receipt.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { PAIRS, PAYLOAD_NOTE, PAYLOAD_OPTION, parsePayload } from "../parse-payload.ts";
import { programName } from "../program-name.ts";
import { clientFor, SERVER_OPTIONS, serverOf } from "../server.ts";

/** Broadcasts a signal, and prints how many waits it reached. */
export const signal = command({
  name: "signal",
  summary: "broadcast a signal to every instance that waits for it",
  operands: ["NAME", PAIRS],
  options: {
    ...PAYLOAD_OPTION,
    id: { type: "string", value: "ID", help: "the broadcast's id, for safe retries" },
    receipt: { type: "boolean", help: "print the receipt, as of the end of the call" },
    ...SERVER_OPTIONS,
  },
  notes: PAYLOAD_NOTE,
  run: async ({ values, operands: [name = "", ...pairs], terminal }) => {
    const payload = parsePayload({ payload: values.payload, pairs });
    const client = clientFor(values, terminal);
    const answer = await client.signal({
      name,
      ...(payload !== undefined && { payload }),
      ...(values.id !== undefined && { id: values.id }),
    });
    if (values.receipt) {
      const receipt = await client.receipt(answer.broadcastId);
      if (values.json) printJson(terminal, receipt);
      else printFacts(terminal, receiptFacts(receipt));
      return EXIT.ok;
    }
    if (values.json) {
      printJson(terminal, answer);
      return EXIT.ok;
    }
    const server = serverOf(values, terminal);
    const toReceipt = ["receipt", answer.broadcastId] as const;
    terminal.print(`${name}: ${describeReach(answer)}`);
    terminal.print(`Receipt: ${commandLine(programName(terminal), server, toReceipt)}`);
    return EXIT.ok;
  },
});

function describeReach({ deliveredCount, startedCount = 0 }: SignalAnswer): string {
  if (deliveredCount === undefined) return "delivery continues; the receipt shows the counts.";
  const reached = `${deliveredCount} ${deliveredCount === 1 ? "wait" : "waits"} reached`;
  const started = `${startedCount} ${startedCount === 1 ? "instance" : "instances"} started`;
  if (deliveredCount + startedCount > 0) return `${reached}, ${started}.`;
  return `${reached}, ${started}. Signals are not kept.`;
}
