import type { ScheduleView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { listUpTo } from "../list-up-to.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { printList } from "../print-list.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import { UsageError } from "../usage-error.ts";

/** Lists timer start schedules, or stops one. */
export const schedules = command({
  name: "schedules",
  summary: "list scheduled starts, or stop one",
  operands: ["[rm]", "[ID]"],
  options: {
    limit: { type: "string", value: "NUMBER", help: "the maximum number to list; default 50" },
    ...SERVER_OPTIONS,
  },
  notes: [
    "`rm ID` stops a schedule until its definition is enabled or deployed again. To stop all",
    "schedules of a definition, disable it.",
  ].join("\n"),
  run: async ({ values, operands: [action, id], terminal }) => {
    const limit = parseWholeNumber(values.limit ?? "50", { option: "limit", min: 1, max: 100_000 });
    const client = clientFor(values, terminal);
    if (action === undefined) {
      const found = await listUpTo(limit, (page) => client.schedules(page));
      printList(terminal, found, { json: values.json, headings: HEADINGS, rowOf });
      return EXIT.ok;
    }
    if (action !== "rm") throw new UsageError(`"${action}" is not rm. ${USAGE}`);
    if (id === undefined) throw new UsageError(`ID is missing. ${USAGE}`);
    const answer = await client.removeSchedule(id);
    if (values.json) printJson(terminal, answer);
    else terminal.print(`${id} is stopped`);
    return EXIT.ok;
  },
});

const USAGE = "Usage: `fermata schedules --help`.";
const HEADINGS = ["ID", "VERSION", "WHEN", "ZONE", "NEXT", "FIRED", "LEFT"];

function rowOf(schedule: ScheduleView): readonly string[] {
  const { id, definition, text, zone, nextDue, fired, remaining, enabled } = schedule;
  const next = nextDue ?? (enabled ? "never" : "disabled");
  const left = remaining === undefined ? "no end" : String(remaining);
  return [id, String(definition.version), text, zone, next, String(fired), left];
}
