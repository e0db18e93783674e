import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

/** Gives a user task to somebody. */
export const claim = command({
  name: "claim",
  summary: "give a user task to somebody",
  operands: ["TASK"],
  options: {
    user: { type: "string", value: "USER", help: "who takes it; must be said" },
    group: {
      type: "string",
      value: "GROUP",
      multiple: true,
      help: "a group that the user is in; may be given more than once",
    },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, operands: [taskId = ""], terminal }) => {
    const { user, group: groups } = values;
    if (user === undefined) throw new UsageError("--user is missing. Say who takes the task.");
    const client = clientFor(values, terminal);
    const answer = await client.claimTask(taskId, { user, ...(groups && { groups }) });
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${taskId} is ${user}'s`);
    return EXIT.ok;
  },
});
