import type { PurgeReport, PurgeRequest } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { everyPage } from "../every-page.ts";
import { EXIT } from "../exit-code.ts";
import { printJson, printTable } from "../lay-out.ts";
import { parseChoice } from "../parse-choice.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Erases ended instances; without --yes it only lists them. */
export const purge = command({
  name: "purge",
  summary: "erase ended instances, with their values and history",
  operands: [],
  options: {
    "ended-before": { type: "string", value: "INSTANT", help: "only those that ended before it" },
    definition: { type: "string", value: "ID", help: "only those of this definition" },
    status: { type: "string", value: "STATUS", help: "only succeeded, failed or cancelled ones" },
    "business-key": { type: "string", value: "KEY", help: "only those with this business key" },
    tag: { type: "string", value: "TAG", help: "only those with this tag" },
    yes: { type: "boolean", help: "erase them; without it they are only listed" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, terminal }) => {
    const { definition, tag, status } = values;
    const endedBefore = values["ended-before"];
    const businessKey = values["business-key"];
    const filter: NonNullable<PurgeRequest["filter"]> = {
      ...(endedBefore !== undefined && { endedBefore }),
      ...(definition !== undefined && { definition }),
      ...(status !== undefined && {
        status: parseChoice(status, { option: "status", choices: ENDED }),
      }),
      ...(businessKey !== undefined && { businessKey }),
      ...(tag !== undefined && { tag }),
    };
    const isMeant = values.yes ?? false;
    const client = clientFor(values, terminal);
    const { items, sums } = await everyPage((page) =>
      client.purge({ filter, dryRun: !isMeant, ...page }),
    );
    if (values.json) printJson(terminal, { dryRun: !isMeant, ...sums, items });
    else {
      printTable(terminal, HEADINGS, items.map(rowOf));
      terminal.print(isMeant ? done(sums) : `${sums.matched ?? 0} match; --yes erases them`);
    }
    return (sums.refused ?? 0) > 0 ? EXIT.refused : EXIT.ok;
  },
});

const ENDED = ["succeeded", "failed", "cancelled"] as const;
const HEADINGS = ["INSTANCE", "DEFINITION", "STATUS", "ENDED", "OUTCOME"];

function rowOf(item: PurgeReport["items"][number]): readonly string[] {
  const { instanceId, definition, status, endedAt, outcome, problem } = item;
  const how = problem === undefined ? outcome : `${outcome}: ${problem.message}`;
  return [instanceId, `${definition.id} v${definition.version}`, status, endedAt, how];
}

const done = ({ matched = 0, purged = 0, gone = 0, refused = 0 }): string =>
  `${purged} of ${matched} erased, ${gone} already gone, ${refused} refused`;
