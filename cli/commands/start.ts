import { ApiError, type Client, type ResultView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { errorFacts } from "../describe-error.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { parseJson, parseVariables } from "../parse-json.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Starts an instance; with --wait it waits for the end. */
export const start = command({
  name: "start",
  summary: "start an instance of a definition",
  operands: ["DEFINITION"],
  options: {
    variables: { type: "string", value: "JSON|@FILE", help: "its initial variables" },
    input: {
      type: "string",
      value: "JSON|@FILE",
      help: "the input of a workflow in code: any JSON",
    },
    id: { type: "string", value: "ID", help: "the instance's id, for safe retries" },
    "business-key": { type: "string", value: "KEY", help: "your own key for it" },
    tag: { type: "string", value: "TAG", multiple: true, help: "a tag; can be repeated" },
    deadline: {
      type: "string",
      value: "TIME",
      help: "when it fails if it has not ended: a duration such as P1D, or an instant",
    },
    wait: {
      type: "string",
      value: "SECONDS",
      help: "wait up to this long for its end, and print the result",
    },
    ...SERVER_OPTIONS,
  },
  notes: "With --wait the exit code is 0 only when the instance has succeeded.",
  run: async ({ values, operands: [definitionId = ""], terminal }) => {
    const client = clientFor(values, terminal);
    const waitSeconds =
      values.wait === undefined
        ? undefined
        : parseWholeNumber(values.wait, { option: "wait", min: 0, max: 86_400 });
    const instance = await client.start(definitionId, {
      ...(values.variables !== undefined && {
        variables: parseVariables(values.variables, "variables"),
      }),
      ...(values.input !== undefined && { input: parseJson(values.input, "input") }),
      ...(values.id !== undefined && { instanceId: values.id }),
      ...(values["business-key"] !== undefined && { businessKey: values["business-key"] }),
      ...(values.tag && { tags: values.tag }),
      ...(values.deadline !== undefined && { deadline: values.deadline }),
    });
    const { instanceId, definition } = instance;
    if (waitSeconds === undefined) {
      if (values.json) printJson(terminal, instance);
      else terminal.print(`${instanceId} started (${definition.id} version ${definition.version})`);
      return EXIT.ok;
    }
    const result = await resultWithin(client, instanceId, waitSeconds);
    if (values.json) printJson(terminal, result);
    else {
      printFacts(terminal, [
        ["instance", instanceId],
        ["status", result.status],
        ...errorFacts(result.error),
        // Of a workflow in code the result is what counts; of a graph both are the same.
        ...(instance.input === undefined
          ? [["variables", JSON.stringify(result.variables)] as const]
          : [["result", JSON.stringify(result.result)] as const]),
      ]);
    }
    return result.status === "succeeded" ? EXIT.ok : EXIT.refused;
  },
});

/** The longest that one call may wait. */
const SECONDS_A_CALL = 25;

/** Between two calls: an engine behind a gateway responds within two seconds, whatever `waitSeconds` is. */
const PAUSE_MS = 250;

async function resultWithin(
  client: Client,
  instanceId: string,
  seconds: number,
): Promise<ResultView> {
  const until = Date.now() + seconds * 1_000;
  for (;;) {
    const left = Math.ceil((until - Date.now()) / 1_000);
    const waitSeconds = Math.max(0, Math.min(SECONDS_A_CALL, left));
    try {
      return await client.result(instanceId, { waitSeconds });
    } catch (error) {
      const isLive = error instanceof ApiError && error.code === "instance/not-ended";
      if (!isLive || Date.now() >= until) throw error;
    }
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
}
