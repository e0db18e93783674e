import type { RecoveryReport, RecoveryTrouble } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Sends lost messages again; with --all, everything that any live instance owes. */
export const recover = command({
  name: "recover",
  summary: "send lost messages again; duplicates have no effect",
  operands: [],
  options: {
    all: {
      type: "boolean",
      help: "visit every live instance, for example after restoring a table",
    },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, terminal }) => {
    const client = clientFor(values, terminal);
    const { troubles, ...counts } = values.all
      ? await everyPage(client.recoverAll)
      : await client.recover();
    if (values.json) printJson(terminal, { ...counts, troubles });
    else {
      printFacts(
        terminal,
        Object.entries(counts).map(([name, count]) => [WORDS[name] ?? name, String(count)]),
      );
      for (const trouble of troubles) terminal.complain(describeTrouble(trouble));
      const untold = counts.unreadable + counts.failed - troubles.length;
      if (untold > 0) terminal.complain(`and ${untold} more; the engine's log names them all`);
    }
    if (counts.failed > 0)
      terminal.complain("Failed items may succeed when you run this command again.");
    return counts.unreadable + counts.failed === 0 ? EXIT.ok : EXIT.refused;
  },
});

const WORDS: Readonly<Record<string, string>> = {
  resumed: "instances resumed",
  rearmed: "timers armed again",
  timersFired: "overdue timers",
  resent: "messages sent again",
  mailboxesPoked: "mailboxes woken",
  broadcastsResumed: "broadcasts resumed",
  eventsOffered: "events offered",
  skipped: "nothing to do",
  unreadable: "unreadable",
  failed: "failed, run again",
};

function describeTrouble({ instanceId, key, message }: RecoveryTrouble): string {
  const what = instanceId === undefined ? `${key.pk} / ${key.sk}` : `instance ${instanceId}`;
  return `fermata: ${what}: ${message}`;
}

type Page = RecoveryReport & Readonly<{ nextCursor?: string }>;

async function everyPage(
  recoverAll: (page: Readonly<{ cursor?: string }>) => Promise<Page>,
): Promise<RecoveryReport> {
  let { nextCursor: cursor, ...sum } = await recoverAll({});
  while (cursor !== undefined) {
    const { nextCursor, ...report } = await recoverAll({ cursor });
    sum = added(sum, report);
    cursor = nextCursor;
  }
  return sum;
}

const added = (a: RecoveryReport, b: RecoveryReport): RecoveryReport => ({
  resumed: a.resumed + b.resumed,
  rearmed: a.rearmed + b.rearmed,
  timersFired: a.timersFired + b.timersFired,
  resent: a.resent + b.resent,
  mailboxesPoked: a.mailboxesPoked + b.mailboxesPoked,
  broadcastsResumed: a.broadcastsResumed + b.broadcastsResumed,
  eventsOffered: a.eventsOffered + b.eventsOffered,
  skipped: a.skipped + b.skipped,
  unreadable: a.unreadable + b.unreadable,
  failed: a.failed + b.failed,
  troubles: [...a.troubles, ...b.troubles],
});
