import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { PAIRS, PAIRS_NOTE, parseGiven, VARIABLES_OPTION } from "../parse-payload.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

/** Reports that a task failed. */
export const fail = command({
  name: "fail",
  summary: "report that a task failed",
  operands: ["TASK", PAIRS],
  options: {
    message: { type: "string", value: "TEXT", help: "the reason; required" },
    code: {
      type: "string",
      value: "CODE",
      help: "a business error that boundary events can catch",
    },
    retries: { type: "string", value: "N", help: "attempts left; not for user tasks" },
    ...VARIABLES_OPTION,
    key: { type: "string", value: "KEY", help: "idempotency key, for safe retries" },
    ...SERVER_OPTIONS,
  },
  notes: PAIRS_NOTE,
  run: async ({ values, operands: [taskId = "", ...pairs], terminal }) => {
    const { message, code, key } = values;
    if (message === undefined)
      throw new UsageError("--message is missing. Say why the task failed.");
    const variables = parseGiven(values.variables, pairs);
    const range = { option: "retries", min: 0, max: 1_000 };
    const answer = await clientFor(values, terminal).failTask(
      taskId,
      {
        message,
        ...(code !== undefined && { code }),
        ...(values.retries !== undefined && { retries: parseWholeNumber(values.retries, range) }),
        ...(variables && { variables }),
      },
      key === undefined ? {} : { idempotencyKey: key },
    );
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${taskId} has failed${code === undefined ? "" : ` with ${code}`}`);
    return EXIT.ok;
  },
});
