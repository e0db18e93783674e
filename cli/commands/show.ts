import type { InstanceView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
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
    const instance = await clientFor(values, terminal).get(instanceId);
    if (values.json) printJson(terminal, instance);
    else printFacts(terminal, factsOf(instance));
    return EXIT.ok;
  },
});

function factsOf(instance: InstanceView): readonly (readonly [string, string | undefined])[] {
  const { definition, tokens, completedElements, waits, incidents, variables } = instance;
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
    ["error", instance.error?.message],
    ["at", listed(tokens.map(counted))],
    ["completed", listed(completedElements)],
    ...waits.map((wait) => ["waits", describeWait(wait, incidents)] as const),
    ...Object.entries(variables).map(
      ([name, value]) => ["variable", `${name} = ${JSON.stringify(value)}`] as const,
    ),
  ];
}

function listed(elements: readonly string[]): string | undefined {
  return elements.length === 0 ? undefined : elements.join(", ");
}

const counted = ({ element, count }: InstanceView["tokens"][number]): string =>
  count === 1 ? element : `${element} (${count} times)`;
