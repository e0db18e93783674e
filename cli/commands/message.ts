import { command } from "../command.ts";
import { describeMessageAnswer } from "../describe-message-answer.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { PAIRS, PAYLOAD_NOTE, PAYLOAD_OPTION, parsePayload } from "../parse-payload.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Sends a message to the instance that waits for its name and key, now or later. */
export const message = command({
  name: "message",
  summary: "send a message to the instance that waits for its key, now or later",
  operands: ["NAME", PAIRS],
  options: {
    key: { type: "string", value: "KEY", help: "the correlation key; default none" },
    ...PAYLOAD_OPTION,
    id: { type: "string", value: "ID", help: "the message's id, for safe retries" },
    ttl: {
      type: "string",
      value: "DURATION",
      help: "how long it is kept for later waits; default PT1H, PT0S: not at all",
    },
    ...SERVER_OPTIONS,
  },
  notes: PAYLOAD_NOTE,
  run: async ({ values, operands: [name = "", ...pairs], terminal }) => {
    const payload = parsePayload({ payload: values.payload, pairs });
    const answer = await clientFor(values, terminal).message({
      name,
      ...(values.key !== undefined && { correlationKey: values.key }),
      ...(payload !== undefined && { payload }),
      ...(values.id !== undefined && { messageId: values.id }),
      ...(values.ttl !== undefined && { timeToLive: values.ttl }),
    });
    if (values.json) printJson(terminal, answer);
    else
      terminal.print(`${name} (${answer.messageId}): ${describeMessageAnswer(answer, values.ttl)}`);
    return EXIT.ok;
  },
});
