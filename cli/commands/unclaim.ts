import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

/** Gives a user task back. */
export const unclaim = command({
  name: "unclaim",
  summary: "give a user task back",
  operands: ["TASK"],
  options: {
    user: { type: "string", value: "USER", help: "who has it; must be said" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, operands: [taskId = ""], terminal }) => {
    const { user } = values;
    if (user === undefined) throw new UsageError("--user is missing. Say who has the task.");
    const client = clientFor(values, terminal);
    const answer = await client.unclaimTask(taskId, { user });
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${taskId} is nobody's`);
    return EXIT.ok;
  },
});
