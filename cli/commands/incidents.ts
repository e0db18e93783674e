import type { FoundIncident } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { INCIDENT_OPTIONS, incidentFilter } from "../incident-filter.ts";
import { listUpTo } from "../list-up-to.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { printList } from "../print-list.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Lists open incidents. */
export const incidents = command({
  name: "incidents",
  summary: "list open incidents, those of the newest instances first",
  operands: [],
  options: {
    ...INCIDENT_OPTIONS,
    limit: { type: "string", value: "NUMBER", help: "the maximum number; default 50" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, terminal }) => {
    const limit = parseWholeNumber(values.limit ?? "50", { option: "limit", min: 1, max: 100_000 });
    const filter = incidentFilter(values);
    const client = clientFor(values, terminal);
    const list = await listUpTo(limit, (page) => client.incidents({ ...filter, ...page }));
    printList(terminal, list, {
      json: values.json,
      headings: INCIDENT_HEADINGS,
      rowOf: incidentRow,
    });
    return EXIT.ok;
  },
});

/** The columns of a table of incidents. */
export const INCIDENT_HEADINGS = ["INSTANCE", "INCIDENT", "TYPE", "AT", "MESSAGE"];

/** An incident as a row of that table. */
export function incidentRow(incident: FoundIncident): readonly string[] {
  const { instanceId, incidentId, type, element, message } = incident;
  return [instanceId, incidentId, type, element, message];
}
