import { toAttributes } from "../adapters/dynamodb/attributes.ts";
import { sizeOf } from "../adapters/dynamodb/units.ts";
import { feelExpressions } from "../adapters/feelin/feel-expressions.ts";
import { loadTaskHandlers } from "../adapters/handlers/task-handlers.ts";
import { SimulatedStore } from "../adapters/simulated/store.ts";
import type { Compiled } from "../definition/definition.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import type { Variables } from "../definition/json.ts";
import { bpmnCompiler } from "../frontends/bpmn/compiler.ts";
import type { Item } from "../ports/store.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import type { HistoryEntry } from "../shapes/instances.ts";
import { KEPT_DAYS, ROW_OVERHEAD_BYTES } from "./assumptions.ts";
import { type Bill, billFor } from "./bill.ts";
import { type Counts, countSteps } from "./counts.ts";
import { type Mode, openInstallation } from "./installation.ts";
import { Ledger, type Spent } from "./ledger.ts";
import { meteredStore } from "./metered-store.ts";
import { type Peer, peersFor } from "./peers.ts";
import { type Charge, PRICES } from "./prices.ts";
import { runInstance } from "./run-instance.ts";

/** The workflow whose cost is estimated. */
export type CostRequest = Readonly<{
  /** BPMN. */
  source: string;
  /** Which of its processes; by default the first that a call can start. */
  process?: string;
  variables?: Variables;
  /** How many instances are run; 10 by default. They differ only in their ids. */
  instances?: number;
  /** A folder of task handlers; tasks without one complete at once, with no variables. */
  tasks?: string;
  mode?: Mode;
}>;

/** The cost of a workflow on AWS, or why it cannot be computed. */
export type CostReport = Readonly<
  | ({ kind: "counted" } & Counted)
  | { kind: "refused"; diagnostics: readonly Diagnostic[] }
  | { kind: "stuck"; why: string }
>;

type Counted = Readonly<{
  process: string;
  mode: Mode;
  instances: number;
  /** Of one instance. */
  counts: Counts;
  bill: Bill;
  /** Dollars for a million instances, all-in, with the calls and the logs. */
  perMillionInstances: number;
  /** Bytes of the largest row of an instance's state, as it was billed. */
  stateBytes: number;
  peers: readonly Readonly<{ name: string; counted: string; perMillionSteps: number }>[];
  prices: Readonly<{ region: string; asOf: string }>;
}>;

/** Runs instances of a workflow in memory and counts what AWS would charge for them. */
export async function estimateCost(request: CostRequest): Promise<CostReport> {
  const compilation = await bpmnCompiler({ expressions: feelExpressions() })(request.source);
  if (!compilation.ok) return { kind: "refused", diagnostics: compilation.diagnostics };
  const process = compilation.processes.find(
    ({ id, startEvents }) =>
      (request.process ?? id) === id && startEvents.some(({ kind }) => kind === "none"),
  );
  if (process === undefined) {
    const which = request.process === undefined ? "there" : `"${request.process}"`;
    return { kind: "stuck", why: `${which} is no process here that a call can start` };
  }
  return measure(request, process);
}

async function measure(
  { source, variables = {}, instances = 10, tasks, mode = "inline" }: CostRequest,
  process: Compiled,
): Promise<CostReport> {
  const handlers: ReadonlyMap<string, TaskHandler> =
    tasks === undefined ? new Map() : await loadTaskHandlers(tasks);
  const ledger = new Ledger();
  const store = new SimulatedStore();
  const metered = meteredStore(store, ledger);
  const installation = openInstallation({ ledger, store: metered, mode, handlers });
  const run = () => runInstance(installation, ledger, process.id, { variables });
  await ledger.aside(() => installation.engine.deploy({ notation: "bpmn", source }));
  // Functions cache the definitions that they have read: the first instance warms the cache.
  const first = await ledger.aside(run);
  if (first.kind === "stuck") return first;
  const before = instanceItems(store);
  const histories: (readonly HistoryEntry[])[] = [];
  for (let n = 0; n < instances; n++) {
    const ran = await run();
    if (ran.kind === "stuck") return ran;
    histories.push(ran.history);
  }
  const left = instanceItems(store).filter((item) => !before.includes(item));
  return report({ process, mode, histories, spent: ledger.spent, left });
}

function report({
  process,
  mode,
  histories,
  spent,
  left,
}: Readonly<{
  process: Compiled;
  mode: Mode;
  histories: readonly (readonly HistoryEntry[])[];
  spent: readonly Spent[];
  left: readonly Item[];
}>): CostReport {
  const each = histories.map((history) => countSteps(history, process));
  const mean = (of: keyof Counts) =>
    each.reduce((sum, counts) => sum + counts[of], 0) / each.length;
  const counts: Counts = {
    steps: mean("steps"),
    attempts: mean("attempts"),
    waits: mean("waits"),
    states: mean("states"),
  };
  const bill = billFor(spent, storageOf(left), counts.steps * histories.length);
  return {
    kind: "counted",
    process: process.id,
    mode,
    instances: histories.length,
    counts,
    bill,
    perMillionInstances: (bill.allIn + bill.door + bill.logs.perMillionSteps) * counts.steps,
    stateBytes: Math.max(...left.filter(({ key }) => key.sk === "S").map(rowBytes)),
    peers: peersFor(counts).map((peer) => perStep(peer, counts.steps)),
    prices: { region: PRICES.region, asOf: PRICES.asOf },
  };
}

const perStep = ({ name, counted, microdollars }: Peer, steps: number) => ({
  name,
  counted,
  perMillionSteps: microdollars / steps,
});

/** Rows of instances, which are kept for some time after their end. */
function instanceItems(store: SimulatedStore): readonly Item[] {
  return store.items().filter(({ key }) => key.pk.split("#")[1] === "I");
}

/** For as long as they are kept; index rows contain only keys, which the overhead covers. */
function storageOf(items: readonly Item[]): Charge {
  const bytes = items.reduce(
    (sum, item) => sum + rowBytes(item) + ROW_OVERHEAD_BYTES * (item.listed ? 3 : 1),
    0,
  );
  const gbMonths = (bytes / 2 ** 30) * (KEPT_DAYS / 30);
  return {
    service: "DynamoDB storage",
    units: gbMonths,
    microdollars: gbMonths * PRICES.dynamodbGbMonth * 1_000_000,
  };
}

const rowBytes = (item: Item): number => sizeOf(toAttributes(item));
