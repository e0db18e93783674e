import type { RecoveryReport } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Sends again what was lost; with --all, whatever any live instance owes. */
export const recover = command({
  name: "recover",
  summary: "send again what was lost; what is sent twice is done once",
  operands: [],
  options: {
    all: {
      type: "boolean",
      help: "go through every live instance, as after a table was restored",
    },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, terminal }) => {
    const client = clientFor(values, terminal);
    const found = values.all ? await everyPage(client.recoverAll) : await client.recover();
    if (values.json) printJson(terminal, found);
    else
      printFacts(
        terminal,
        Object.entries(found).map(([name, count]) => [WORDS[name] ?? name, String(count)]),
      );
    if (found.failed === 0) return EXIT.ok;
    terminal.complain("Not everything could be recovered. Look at the log, then run this again.");
    return EXIT.refused;
  },
});

const WORDS: Readonly<Record<string, string>> = {
  resumed: "instances set going",
  rearmed: "timers armed again",
  timersFired: "overdue timers",
  resent: "messages sent again",
  mailboxesPoked: "mailboxes looked at",
  broadcastsResumed: "broadcasts resumed",
  eventsOffered: "events offered",
  failed: "could not be recovered",
  skipped: "needed nothing",
};

type Page = RecoveryReport & Readonly<{ nextCursor?: string }>;

async function everyPage(
  recoverAll: (page: Readonly<{ cursor?: string }>) => Promise<Page>,
): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  let cursor: string | undefined;
  do {
    const { nextCursor, ...counts } = await recoverAll(cursor === undefined ? {} : { cursor });
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
    cursor = nextCursor;
  } while (cursor !== undefined);
  return sums;
}
