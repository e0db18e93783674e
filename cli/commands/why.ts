import { ApiError, type InstanceView, type WaitView } from "../../lib/client/index.ts";
import { curlLine, wakingLine } from "../call-lines.ts";
import { command } from "../command.ts";
import { errorFacts } from "../describe-error.ts";
import { describeWait, describeWaking } from "../describe-wait.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { programName } from "../program-name.ts";
import { clientFor, SERVER_OPTIONS, type Server, serverOf } from "../server.ts";

/** Lists what an instance waits for, and the calls that would continue it. */
export const why = command({
  name: "why",
  summary: "show what an instance waits for, and the calls that would continue it",
  operands: ["ID"],
  options: SERVER_OPTIONS,
  run: async ({ values, operands: [instanceId = ""], terminal }) => {
    const client = clientFor(values, terminal);
    if (values.json) {
      printJson(terminal, await client.waits(instanceId));
      return EXIT.ok;
    }
    for (let next: string | undefined = instanceId; next !== undefined; ) {
      const instance: InstanceView | undefined = await found(client, next, next === instanceId);
      if (instance === undefined) break;
      const lines = linesOf(instance, serverOf(values, terminal), programName(terminal));
      for (const line of lines) terminal.print(line);
      next = onlyChild(instance);
    }
    return EXIT.ok;
  },
});

/** The id of a called instance is known before the instance exists. */
async function found(
  client: ReturnType<typeof clientFor>,
  instanceId: string,
  mustBeThere: boolean,
): Promise<InstanceView | undefined> {
  try {
    return await client.get(instanceId);
  } catch (error) {
    if (!mustBeThere && error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** An instance that waits only for a called process continues when that process does. */
function onlyChild({ waits }: InstanceView): string | undefined {
  const [only, ...others] = waits.filter(({ kind }) => kind !== "timer");
  return others.length === 0 ? only?.childInstanceId : undefined;
}

function linesOf(instance: InstanceView, server: Server, program: string): readonly string[] {
  const { instanceId, status, endedAt, error, input, waits, incidents, warnings = [] } = instance;
  if (endedAt !== undefined) {
    const failed = errorFacts(error).map(([name, text]) => `${name === "" ? "  " : ""}${text}`);
    return [`${instanceId} has ended (${status}) at ${endedAt}; it waits for nothing.`, ...failed];
  }
  return [
    `${instanceId} is ${status}.`,
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...waits.flatMap((wait) => {
      const waking = describeWaking(wait);
      const { wakeWith } = wait;
      const described = `- ${describeWait(wait, incidents)}`;
      if (waking === undefined || wakeWith === undefined) return [described];
      const byCommand = wakingLine(program, server, instanceId, wait);
      const calls = [...(byCommand === undefined ? [] : [byCommand]), curlLine(server, wakeWith)];
      const advice = isOfCode(wait, incidents) && input !== undefined ? [FIXED_CODE] : [];
      return [described, ...advice, `  ${waking}`, ...calls.map((call) => `  ${call}`)];
    }),
  ];
}

/** Whether an incident is of a kind that the code of a workflow causes, and retrying alone repeats. */
const isOfCode = ({ incidentId }: WaitView, incidents: InstanceView["incidents"]): boolean =>
  incidents.some((one) => one.incidentId === incidentId && CAUSED_BY_CODE.has(one.type));

const CAUSED_BY_CODE: ReadonlySet<string> = new Set(["STEP_LIMIT", "DEADLOCK", "NON_DETERMINISM"]);

const FIXED_CODE =
  "  An instance keeps the code that it was started with: if the cause is in the code, cancel the instance and start another.";
