import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Cancels an instance; one that has ended is not changed. */
export const cancel = command({
  name: "cancel",
  summary: "cancel an instance",
  operands: ["ID"],
  options: {
    reason: { type: "string", value: "TEXT", help: "a reason, kept in the history" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, operands: [instanceId = ""], terminal }) => {
    const { reason } = values;
    const answer = await clientFor(values, terminal).cancel(
      instanceId,
      reason === undefined ? {} : { reason },
    );
    if (values.json) printJson(terminal, answer);
    else if (answer.cancelled) terminal.print(`${instanceId} is cancelled`);
    else terminal.print(`${instanceId} has already ended; there is nothing to cancel`);
    return EXIT.ok;
  },
});
