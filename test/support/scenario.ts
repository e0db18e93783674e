/**
 * Scenario files: calls to an engine over its API, and the expected result, independent of where
 * the engine runs. The same file is run on every host, and the histories of the instances are
 * compared.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiError, type Client } from "../../lib/client/index.ts";
import type { Json, Variables } from "../../lib/definition/json.ts";
import type { HistoryEntry, InstanceView } from "../../lib/shapes/instances.ts";

/** A parsed file of the folder. `{run}` in its texts is replaced by what differs between runs. */
export type Scenario = Readonly<{
  name: string;
  about: string;
  /** Parts of it are concurrent: its histories are compared as bags of lines. */
  unordered?: true;
  play: readonly Step[];
}>;

type Step = Readonly<
  | { deploy: string }
  | { start: string; as: string; variables: Variables }
  | {
      until: string;
      status: InstanceView["status"];
      incidents?: number;
      /** How often, at least, an element must have been completed. */
      element?: string;
      times?: number;
    }
  | { signal: { name: string; payload?: Variables }; delivered: number }
  | { message: { name: string } & Record<string, Json>; outcome: string; as?: string }
  | { complete: string; of: string; variables: Variables }
  /** A person takes the user task of an instance, gives it back, or fails it with a code. */
  | { claim: string; of: string }
  | { unclaim: string; of: string }
  | { fail: string; of: string }
  | { resolve: string; variables: Variables }
  | { cancel: string; cancelled: boolean }
  /** The youngest instance of a definition: one that nobody has started by the API. */
  | { find: string; as: string }
  /** The nth instance of a definition whose instances all begin by themselves. */
  | { begun: string; nth: number; as: string }
  | { pass: string }
>;

/** Where a scenario is run. */
export type ScenarioHost = Readonly<{
  client: Client;
  /** Lets time pass; a host on real time need not do anything. */
  pass(duration: string): Promise<void>;
  /** A short pause between two checks. */
  pause(): Promise<void>;
}>;

const FOLDER = fileURLToPath(new URL("../scenarios/", import.meta.url));

/** The folder with the handlers of every task in the scenarios. */
export const SCENARIO_TASKS = join(FOLDER, "tasks");

/** All scenarios, by name. */
export function readScenarios(): readonly Scenario[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => ({ name: file.slice(0, -5), ...JSON.parse(read(file)) }) as Scenario);
}

/** Runs a scenario, and returns the history of each of its instances by name. */
export async function playScenario(
  scenario: Scenario,
  host: ScenarioHost,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const run = crypto.randomUUID();
  const cast = new Map<string, string>();
  for (const step of scenario.play) await take(forRun(step, run), host, cast);
  const told: Record<string, readonly string[]> = {};
  for (const [name, instanceId] of cast) {
    const lines = (await historyOf(host.client, instanceId)).map((entry) => lineOf(entry, run));
    told[name] = scenario.unordered ? lines.toSorted() : lines;
  }
  return told;
}

async function take(step: Step, host: ScenarioHost, cast: Map<string, string>): Promise<void> {
  const { client } = host;
  const idOf = (name: string) => required(cast.get(name), `there is no instance named ${name}`);
  if ("deploy" in step) {
    await client.deploy(read(step.deploy));
  } else if ("start" in step) {
    const { instanceId } = await client.start(step.start, { variables: step.variables });
    cast.set(step.as, instanceId);
  } else if ("until" in step) {
    await until(host, idOf(step.until), step);
  } else if ("signal" in step) {
    await broadcast(host, step);
  } else if ("message" in step) {
    const answer = await client.message(step.message);
    expectEqual(answer.outcome, step.outcome, `the outcome of message ${step.message.name}`);
    if (step.as !== undefined) cast.set(step.as, required(answer.instanceId, "no instance"));
  } else if ("complete" in step) {
    const task = await offered(host, idOf(step.of), step.complete);
    await client.completeTask(task, { variables: step.variables });
  } else if ("claim" in step) {
    await client.claimTask(await offered(host, idOf(step.of), USER_TASK), { user: step.claim });
  } else if ("unclaim" in step) {
    await client.unclaimTask(await offered(host, idOf(step.of), USER_TASK), { user: step.unclaim });
  } else if ("fail" in step) {
    const task = await offered(host, idOf(step.of), USER_TASK);
    await client.failTask(task, { message: "not mine", code: step.fail });
  } else if ("resolve" in step) {
    const { incidents } = await client.get(idOf(step.resolve));
    const incident = required(incidents[0], "no incident");
    const { variables } = step;
    await client.resolveIncident(idOf(step.resolve), incident.incidentId, { variables });
  } else if ("cancel" in step) {
    const { cancelled } = await client.cancel(idOf(step.cancel));
    expectEqual(cancelled, step.cancelled, `whether ${step.cancel} was cancelled`);
  } else if ("find" in step) {
    cast.set(step.as, await begunSince(host, step.find, idOf([...cast.keys()][0] ?? "")));
  } else if ("begun" in step) {
    cast.set(step.as, await begunAs(host, step.begun, step.nth));
  } else {
    await host.pass(step.pass);
  }
}

/** Broadcasts, and waits until its receipt is complete; it must count the recipients. */
async function broadcast(
  host: ScenarioHost,
  { signal, delivered }: Extract<Step, { signal: object }>,
): Promise<void> {
  const { broadcastId } = await host.client.signal(signal);
  const receipt = await look(host, `receipt of ${signal.name}`, async () => {
    const found = await host.client.receipt(broadcastId);
    return found.complete ? found : undefined;
  });
  expectEqual(receipt.delivered, delivered, `the recipients of the signal ${signal.name}`);
}

/** The newest instance of a definition, once there is one newer than another. */
async function begunSince(host: ScenarioHost, definition: string, elder: string): Promise<string> {
  const { startedAt } = await host.client.get(elder);
  return look(host, `an instance of ${definition}`, async () => {
    const { items } = await host.client.list({ definition, limit: 1 });
    return items.find((item) => item.startedAt >= startedAt)?.instanceId;
  });
}

/** The nth instance of a definition, once there are that many. */
async function begunAs(host: ScenarioHost, definition: string, nth: number): Promise<string> {
  return look(host, `instance ${nth} of ${definition}`, async () => {
    const { items } = await host.client.list({ definition, limit: 200 });
    return items.toReversed()[nth - 1]?.instanceId;
  });
}

const USER_TASK = "io.camunda.zeebe:userTask";

async function offered(host: ScenarioHost, instanceId: string, type: string): Promise<string> {
  return look(host, `a task ${type}`, async () => {
    const { items } = await host.client.tasks({ type, instanceId });
    return items[0]?.taskId;
  });
}

async function until(
  host: ScenarioHost,
  instanceId: string,
  wanted: Extract<Step, { until: string }>,
): Promise<void> {
  const { status, incidents = 0, element, times = 0 } = wanted;
  let found = "nothing";
  await look(host, `${wanted.until} to be ${status}`, async () => {
    const instance = await host.client.get(instanceId);
    const history = element ? await historyOf(host.client, instanceId) : [];
    const completed = history.filter(
      (entry) => entry.element === element && entry.type === "element-completed",
    );
    found = `${instance.status}, ${instance.incidents.length} incidents`;
    const isThere =
      instance.status === status &&
      instance.incidents.length === incidents &&
      completed.length >= times;
    return isThere || undefined;
  }).catch((cause: unknown) => {
    throw new Error(`${wanted.until} should be ${status} and is ${found}`, { cause });
  });
}

/** Repeats a check, and gives up after a minute. */
async function look<T>(
  host: ScenarioHost,
  what: string,
  at: () => Promise<T | undefined>,
): Promise<T> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const found = await at().catch(retryable);
    if (found !== undefined) return found;
    await host.pause();
  }
  throw new Error(`Waited in vain for ${what}.`);
}

const MAX_LOOKS = 300;

function retryable(error: unknown): undefined {
  if (error instanceof ApiError && (error.status === 429 || error.status >= 500)) return undefined;
  throw error;
}

async function historyOf(client: Client, instanceId: string): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.history(instanceId, { limit: 200, ...(cursor && { cursor }) });
    entries.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return entries;
}

/** A line of history without what must differ: its time, and ids. */
function lineOf({ type, element = "-", data }: HistoryEntry, run: string): string {
  const text =
    data === undefined ? "" : ` ${JSON.stringify(masked(data)).replaceAll(run, "{run}")}`;
  return `${type} ${element}${text}`;
}

function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === "string") return isId(value) ? "…" : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, name === "childId" ? "…" : masked(inner)]),
  );
}

/** Ids and instants differ from host to host. */
const isId = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT/.test(text) ||
  /[0-9a-f]{8}-[0-9a-f]{4}-/.test(text) ||
  /^[a-z]\d+\.\d+/.test(text);

function forRun(step: Step, run: string): Step {
  return JSON.parse(JSON.stringify(step).replaceAll("{run}", run)) as Step;
}

const read = (file: string): string => readFileSync(join(FOLDER, file), "utf8");

function required<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw new Error(problem);
  return value;
}

function expectEqual(found: unknown, wanted: unknown, what: string): void {
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, found ${found}`);
}
