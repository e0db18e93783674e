import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { type Mode, openInstallation } from "../../lib/cost/installation.ts";
import { Ledger } from "../../lib/cost/ledger.ts";
import { meteredStore } from "../../lib/cost/metered-store.ts";
import type { Store } from "../../lib/ports/store.ts";
import { inARow, tenTasks } from "../cost/workflows.ts";
import { catching, service, timer } from "../support/bpmn-xml.ts";
import { openMetered, unitsOf } from "../support/metered-dynamodb.ts";

describe("the cost computed in memory", () => {
  let table: Awaited<ReturnType<typeof openMetered>>;
  beforeEach(async () => {
    table = await openMetered();
  });
  afterEach(() => table.drop());

  const days = inARow("days", [
    service("a"),
    catching("w", timer("timeDuration", "P3D")),
    service("b"),
  ]);
  const cases: readonly (readonly [string, Workflow])[] = [
    ["tasks in place", { id: "ten", source: tenTasks(), mode: "inline", noteLength: 300 }],
    ["queued tasks", { id: "ten", source: tenTasks(), mode: "queued", noteLength: 300 }],
    ["values apart", { id: "ten", source: tenTasks(), mode: "inline", noteLength: 5_000 }],
    ["a timer of days", { id: "days", source: days, mode: "inline", noteLength: 300 }],
  ];

  test.each(cases)("of %s is what DynamoDB reports as consumed", async (_, workflow) => {
    const ledger = new Ledger();
    await startOne(meteredStore(new SimulatedStore(), ledger), ledger, workflow);
    await startOne(table.store, new Ledger(), workflow, table.forget);

    expect(table.told()).toEqual(table.reported());
    expect(unitsOf(ledger.spent.map(({ usage }) => usage))).toEqual(table.told());
  });
});

type Workflow = Readonly<{ id: string; source: string; mode: Mode; noteLength: number }>;

/** Deploys, then runs one instance to its end without reading it. */
async function startOne(
  store: Store,
  ledger: Ledger,
  { id, source, mode, noteLength }: Workflow,
  onDeployed = () => {},
): Promise<void> {
  const installation = openInstallation({ ledger, store, mode, handlers: new Map() });
  const { engine, settle, passTime } = installation;
  await ledger.aside(() => engine.deploy({ notation: "bpmn", source }));
  onDeployed();
  await engine.start(id, { variables: { note: "x".repeat(noteLength) } });
  while ((await settle(100)) > 0 || passTime());
}
