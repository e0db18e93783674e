import type { Client, InstanceView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { errorFacts } from "../describe-error.ts";
import { describeWait } from "../describe-wait.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Shows the current state of an instance. */
export const show = command({
  name: "show",
  summary: "show the current state of an instance",
  operands: ["ID"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands: [instanceId = ""], terminal }) => {
    const client = clientFor(values, terminal);
    const instance = await client.get(instanceId);
    if (values.json) printJson(terminal, instance);
    else printFacts(terminal, [...factsOf(instance), ...(await valuesOf(client, instance))]);
    return EXIT.ok;
  },
});

type Facts = readonly (readonly [string, string | undefined])[];

function factsOf(instance: InstanceView): Facts {
  const { definition, tokens, completedElements, waits, incidents, warnings = [] } = instance;
  return [
    ["instance", instance.instanceId],
    ["definition", `${definition.id} version ${definition.version}`],
    ["status", instance.status],
    ["ended by", instance.terminationKind],
    ["business key", instance.businessKey],
    ["tags", instance.tags?.join(", ")],
    ["started", instance.startedAt],
    ["updated", instance.updatedAt],
    ["ended", instance.endedAt],
    ...errorFacts(instance.error),
    ...warnings.map((warning) => ["warning", warning] as const),
    ["at", listed(tokens.map(counted))],
    ["completed", listed(completedElements)],
    ...waits.map((wait) => ["waits", describeWait(wait, incidents)] as const),
  ];
}

/** The variables; of a workflow in code its input and, once it has succeeded, its result. */
async function valuesOf(client: Client, instance: InstanceView): Promise<Facts> {
  const { instanceId, input, status, variables } = instance;
  if (input === undefined) {
    return Object.entries(variables).map(
      ([name, value]) => ["variable", `${name} = ${JSON.stringify(value)}`] as const,
    );
  }
  const ended = status === "succeeded" ? await client.result(instanceId) : undefined;
  return [
    // An instance that was started without an input has null.
    ["input", input === null ? undefined : JSON.stringify(input)],
    ["result", ended && JSON.stringify(ended.result)],
  ];
}

function listed(elements: readonly string[]): string | undefined {
  return elements.length === 0 ? undefined : elements.join(", ");
}

const counted = ({ element, count }: InstanceView["tokens"][number]): string =>
  count === 1 ? element : `${element} (${count} times)`;
