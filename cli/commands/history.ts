import type { Client, HistoryEntry } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { describeEntry } from "../describe-entry.ts";
import { EXIT } from "../exit-code.ts";
import { printJson, printTable } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Shows the history of an instance, the oldest entry first. */
export const history = command({
  name: "history",
  summary: "show what has happened to an instance",
  operands: ["ID"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands: [instanceId = ""], terminal }) => {
    const items = await wholeHistory(clientFor(values, terminal), instanceId);
    if (values.json) printJson(terminal, { items });
    else printTable(terminal, ["SEQ", "AT", "WHAT"], items.map(rowOf));
    return EXIT.ok;
  },
});

function rowOf(entry: HistoryEntry): readonly string[] {
  return [String(entry.seq), entry.at, describeEntry(entry)];
}

const MAX_PAGE_SIZE = 200;

async function wholeHistory(client: Client, instanceId: string): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.history(instanceId, {
      limit: MAX_PAGE_SIZE,
      ...(cursor !== undefined && { cursor }),
    });
    entries.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return entries;
}
