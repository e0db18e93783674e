import type { Client, FoundIncident, ResolveReport } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { everyPage } from "../every-page.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { INCIDENT_OPTIONS, incidentFilter } from "../incident-filter.ts";
import { printJson, printTable } from "../lay-out.ts";
import { parseVariables } from "../parse-json.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { INCIDENT_HEADINGS, incidentRow } from "./incidents.ts";

/** Resolves one incident, those of an instance, or all that a filter matches. */
export const resolve = command({
  name: "resolve",
  summary: "resolve incidents: the failed steps are retried",
  operands: ["[INSTANCE]", "[INCIDENT]"],
  options: {
    ...INCIDENT_OPTIONS,
    variables: { type: "string", value: "JSON|@FILE", help: "variables to set first" },
    retries: { type: "string", value: "NUMBER", help: "the attempts that each task gets" },
    yes: { type: "boolean", help: "resolve them; without INSTANCE they are otherwise only listed" },
    ...SERVER_OPTIONS,
  },
  notes: [
    "With INSTANCE and INCIDENT it resolves that incident, with INSTANCE alone all incidents of the",
    "instance. Without them it lists the incidents that match the options, and resolves them with --yes.",
  ].join("\n"),
  run: async ({ values, operands: [instanceId, incidentId], terminal }) => {
    const filter = incidentFilter(values);
    const said: Said = {
      ...(values.variables !== undefined && {
        variables: parseVariables(values.variables, "variables"),
      }),
      ...(values.retries !== undefined && {
        retries: parseWholeNumber(values.retries, { option: "retries", min: 1, max: 1_000 }),
      }),
    };
    const call = { client: clientFor(values, terminal), terminal, asJson: values.json ?? false };
    if (instanceId === undefined) return resolveMany(call, filter, said, values.yes ?? false);
    const [option] = Object.keys(filter);
    if (option !== undefined) {
      throw new UsageError(`INSTANCE and a filter (${option}) cannot be combined. ${USAGE}`);
    }
    return resolveOf(call, instanceId, incidentId, said);
  },
});

type Call = Readonly<{ client: Client; terminal: Terminal; asJson: boolean }>;
type Said = NonNullable<Parameters<Client["resolveIncident"]>[2]>;

const USAGE = "Usage: `fermata resolve --help`.";

async function resolveOf(
  { client, terminal, asJson }: Call,
  instanceId: string,
  incidentId: string | undefined,
  said: Said,
): Promise<ExitCode> {
  const ids =
    incidentId === undefined
      ? (await client.get(instanceId)).incidents.map((incident) => incident.incidentId)
      : [incidentId];
  for (const id of ids) await client.resolveIncident(instanceId, id, said);
  if (asJson) printJson(terminal, { resolved: ids });
  else if (ids.length === 0) terminal.print(`${instanceId} has no open incident`);
  else terminal.print(`${instanceId}: ${ids.join(", ")} resolved`);
  return EXIT.ok;
}

async function resolveMany(
  { client, terminal, asJson }: Call,
  filter: NonNullable<Parameters<Client["resolveIncidents"]>[0]>["filter"] & {},
  said: Said,
  isMeant: boolean,
): Promise<ExitCode> {
  const { items, sums } = await everyPage((page) =>
    client.resolveIncidents({ filter, ...said, dryRun: !isMeant, ...page }),
  );
  if (asJson) printJson(terminal, { dryRun: !isMeant, ...sums, items });
  else {
    printTable(terminal, [...INCIDENT_HEADINGS, "OUTCOME"], items.map(rowOf));
    terminal.print(isMeant ? done(sums) : `${sums.matched ?? 0} match; --yes resolves them`);
  }
  return (sums.refused ?? 0) > 0 ? EXIT.refused : EXIT.ok;
}

const rowOf = (item: ResolveReport["items"][number]): readonly string[] => [
  ...incidentRow(item satisfies FoundIncident),
  item.problem === undefined ? item.outcome : `${item.outcome}: ${item.problem.message}`,
];

const done = ({ matched = 0, resolved = 0, gone = 0, refused = 0 }): string =>
  `${resolved} of ${matched} resolved, ${gone} already gone, ${refused} refused`;
