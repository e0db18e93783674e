import type { InstanceView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { curlLine, describeWait, describeWaking } from "../describe-wait.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS, type Server, serverOf } from "../server.ts";

/** Says why an instance does not move, and prints the call that would move it. */
export const why = command({
  name: "why",
  summary: "say why an instance does not move, and what would move it",
  operands: ["ID"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands: [instanceId = ""], terminal }) => {
    const client = clientFor(values, terminal);
    if (values.json) {
      printJson(terminal, await client.waits(instanceId));
      return EXIT.ok;
    }
    const instance = await client.get(instanceId);
    for (const line of linesOf(instance, serverOf(values, terminal))) terminal.print(line);
    return EXIT.ok;
  },
});

function linesOf(instance: InstanceView, server: Server): readonly string[] {
  const { instanceId, status, endedAt, waits, incidents } = instance;
  if (endedAt !== undefined) {
    return [`${instanceId} has ended (${status}) at ${endedAt}; it waits for nothing.`];
  }
  return [
    `${instanceId} is ${status}.`,
    ...waits.flatMap((wait) => {
      const waking = describeWaking(wait);
      return [
        `- ${describeWait(wait, incidents)}`,
        ...(waking === undefined ? [] : [`  ${waking}`]),
        ...(waking === undefined || wait.wakeWith === undefined
          ? []
          : [`  ${curlLine(server, wait.wakeWith)}`]),
      ];
    }),
  ];
}
