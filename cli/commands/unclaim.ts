import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

/** Unclaims a user task. */
export const unclaim = command({
  name: "unclaim",
  summary: "return a claimed user task",
  operands: ["TASK"],
  options: {
    user: { type: "string", value: "USER", help: "the user who has claimed it; required" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, operands: [taskId = ""], terminal }) => {
    const { user } = values;
    if (user === undefined)
      throw new UsageError("--user is missing. Name the user who has claimed the task.");
    const client = clientFor(values, terminal);
    const answer = await client.unclaimTask(taskId, { user });
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${taskId} is unclaimed`);
    return EXIT.ok;
  },
});
