import type { EventAnswer } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { describeEventAnswer } from "../describe-event-answer.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { PAIRS, PAYLOAD_NOTE, PAYLOAD_OPTION, parseAnyPayload } from "../parse-payload.ts";
import { programName } from "../program-name.ts";
import { clientFor, SERVER_OPTIONS, serverOf } from "../server.ts";

/** Sends an event to an instance, or to the instances that its type selects. */
export const event = command({
  name: "event",
  summary: "send an event to an instance, or to all that its type selects",
  operands: ["NAME", PAIRS],
  options: {
    target: { type: "string", value: "INSTANCE", help: "the recipient; default: broadcast" },
    ...PAYLOAD_OPTION,
    id: { type: "string", value: "ID", help: "the event's id, for safe retries" },
    ...SERVER_OPTIONS,
  },
  notes: `${PAYLOAD_NOTE}\nThe payload of an event may be any JSON value.`,
  run: async ({ values, operands: [name = "", ...pairs], terminal }) => {
    const payload = parseAnyPayload({ payload: values.payload, pairs });
    const answer: EventAnswer = await clientFor(values, terminal).event({
      name,
      ...(payload !== undefined && { payload }),
      ...(values.target !== undefined && { target: values.target }),
      ...(values.id !== undefined && { id: values.id }),
    });
    if (values.json) {
      printJson(terminal, answer);
      return EXIT.ok;
    }
    const here = { program: programName(terminal), server: serverOf(values, terminal) };
    terminal.print(`${name} (${answer.id}): ${describeEventAnswer(answer, here)}`);
    return EXIT.ok;
  },
});
