import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { parseJson } from "../parse-json.ts";
import { PAIRS, PAIRS_NOTE, parseGiven, VARIABLES_OPTION } from "../parse-payload.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Completes a task with its output variables. */
export const complete = command({
  name: "complete",
  summary: "complete a task",
  operands: ["TASK", PAIRS],
  options: {
    ...VARIABLES_OPTION,
    result: {
      type: "string",
      value: "JSON|@FILE",
      help: "the result of a task of a workflow in code: any JSON, instead of variables",
    },
    user: {
      type: "string",
      value: "USER",
      help: "the user; refused if another user has claimed it",
    },
    key: { type: "string", value: "KEY", help: "idempotency key, for safe retries" },
    ...SERVER_OPTIONS,
  },
  notes: PAIRS_NOTE,
  run: async ({ values, operands: [taskId = "", ...pairs], terminal }) => {
    const variables = parseGiven(values.variables, pairs);
    const { user, key, result } = values;
    const given = result === undefined ? {} : { result: parseJson(result, "result") };
    const answer = await clientFor(values, terminal).completeTask(
      taskId,
      { ...(variables && { variables }), ...given, ...(user !== undefined && { user }) },
      key === undefined ? {} : { idempotencyKey: key },
    );
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${taskId} is completed`);
    return EXIT.ok;
  },
});
