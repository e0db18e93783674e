import type { Client, InstanceFilter, InstanceView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson, printTable } from "../lay-out.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

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
    limit: { type: "string", value: "NUMBER", help: "how many at most; 50 unless said" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, terminal }) => {
    const limit = parseWholeNumber(values.limit ?? "50", { option: "limit", min: 1, max: 100_000 });
    const filter: InstanceFilter = {
      ...(values.definition !== undefined && { definition: values.definition }),
      ...(values.status !== undefined && { status: parseStatus(values.status) }),
    };
    const list = await listUpTo(clientFor(values, terminal), filter, limit);
    if (values.json) {
      printJson(terminal, list);
      return EXIT.ok;
    }
    printTable(terminal, HEADINGS, list.items.map(rowOf));
    if (terminal.isInteractive && list.nextCursor !== undefined) {
      terminal.print(terminal.mark("faint", "There are more; --limit shows them."));
    }
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

const MAX_PAGE_SIZE = 200;

/** A page may be short although there is more, so pages are asked for until there are enough. */
async function listUpTo(client: Client, filter: InstanceFilter, limit: number) {
  const items: InstanceView[] = [];
  let nextCursor: string | undefined;
  do {
    const page = await client.list({
      ...filter,
      limit: Math.min(MAX_PAGE_SIZE, limit - items.length),
      ...(nextCursor !== undefined && { cursor: nextCursor }),
    });
    items.push(...page.items);
    nextCursor = page.nextCursor;
  } while (nextCursor !== undefined && items.length < limit);
  return { items, ...(nextCursor !== undefined && { nextCursor }) };
}

const STATUSES = ["running", "suspended", "succeeded", "failed", "cancelled"] as const;

function parseStatus(text: string): (typeof STATUSES)[number] {
  const status = STATUSES.find((known) => known === text);
  if (status !== undefined) return status;
  throw new UsageError(`--status is "${text}", but must be one of: ${STATUSES.join(", ")}.`);
}
