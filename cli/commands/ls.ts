import type { InstanceFilter, InstanceView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listUpTo } from "../list-up-to.ts";
import { parseChoice } from "../parse-choice.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { printList } from "../print-list.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Lists instances, the newest first. */
export const ls = command({
  name: "ls",
  summary: "list instances, the newest first",
  operands: [],
  options: {
    definition: { type: "string", value: "ID", help: "only instances of this definition" },
    status: {
      type: "string",
      value: "STATUS",
      help: "only running, suspended, succeeded, failed or cancelled ones",
    },
    "business-key": { type: "string", value: "KEY", help: "only those with this business key" },
    tag: { type: "string", value: "TAG", help: "only those with this tag" },
    incident: { type: "boolean", help: "only those with an open incident" },
    after: { type: "string", value: "INSTANT", help: "only those that started after it" },
    before: { type: "string", value: "INSTANT", help: "only those that started before it" },
    limit: { type: "string", value: "NUMBER", help: "the maximum number; default 50" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, terminal }) => {
    const limit = parseWholeNumber(values.limit ?? "50", { option: "limit", min: 1, max: 100_000 });
    const filter: InstanceFilter = {
      ...(values.definition !== undefined && { definition: values.definition }),
      ...(values.status !== undefined && {
        status: parseChoice(values.status, { option: "status", choices: STATUSES }),
      }),
      ...(values["business-key"] !== undefined && { businessKey: values["business-key"] }),
      ...(values.tag !== undefined && { tag: values.tag }),
      ...(values.after !== undefined && { startedAfter: values.after }),
      ...(values.before !== undefined && { startedBefore: values.before }),
      ...(values.incident && { incident: true }),
    };
    const client = clientFor(values, terminal);
    const list = await listUpTo(limit, (page) => client.list({ ...filter, ...page }));
    printList(terminal, list, { json: values.json, headings: HEADINGS, rowOf });
    return EXIT.ok;
  },
});

const HEADINGS = ["INSTANCE", "DEFINITION", "STATUS", "STARTED", "AT"];

function rowOf(instance: InstanceView): readonly string[] {
  const { id, version } = instance.definition;
  return [
    instance.instanceId,
    `${id} v${version}`,
    instance.incidents.length > 0 ? `${instance.status}, incident` : instance.status,
    instance.startedAt,
    instance.activeElements.join(", "),
  ];
}

const STATUSES = ["running", "suspended", "succeeded", "failed", "cancelled"] as const;
