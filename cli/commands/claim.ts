import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

/** Claims a user task for a user. */
export const claim = command({
  name: "claim",
  summary: "claim a user task for a user",
  operands: ["TASK"],
  options: {
    user: { type: "string", value: "USER", help: "the user who claims it; required" },
    group: {
      type: "string",
      value: "GROUP",
      multiple: true,
      help: "a group of the user; can be repeated",
    },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, operands: [taskId = ""], terminal }) => {
    const { user, group: groups } = values;
    if (user === undefined)
      throw new UsageError("--user is missing. Name the user who claims the task.");
    const client = clientFor(values, terminal);
    const answer = await client.claimTask(taskId, { user, ...(groups && { groups }) });
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${taskId} is claimed by ${user}`);
    return EXIT.ok;
  },
});
