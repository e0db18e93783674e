import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";

/** The workflow that shows itself when somebody starts Fermata for the first time. */
export type Example = Readonly<{ definitionId: string; file: string; tasks: string }>;

/** The example of the repository; the published package carries none. */
export function findExample(): Example | undefined {
  const folder = new URL("../../examples/order/", import.meta.url);
  const file = fileURLToPath(new URL("order.bpmn", folder));
  if (!existsSync(file)) return undefined;
  return { definitionId: "order", file, tasks: fileURLToPath(new URL("tasks", folder)) };
}

/** Makes the example known; a second time changes nothing. */
export async function deployExample(engine: EmbeddedEngine, { file }: Example): Promise<void> {
  await engine.deploy(readFileSync(file, "utf8"));
}

/** The first free name: order-1 the first time, order-2 after a restart. */
export async function nextExampleId(engine: EmbeddedEngine, example: Example): Promise<string> {
  let n = 1;
  while (await exists(engine, `${example.definitionId}-${n}`)) n += 1;
  return `${example.definitionId}-${n}`;
}

/** Starts one under a name. */
export async function startExample(
  engine: EmbeddedEngine,
  { definitionId }: Example,
  instanceId: string,
): Promise<void> {
  await engine.start(definitionId, { instanceId, variables: ORDER });
}

/** Large enough to wait for the bank, so that there is something to look into. */
const ORDER = {
  customer: "Ada",
  items: [{ sku: "espresso-machine", quantity: 1 }],
  total: 740,
  paymentWithin: "PT10M",
};

async function exists(engine: EmbeddedEngine, instanceId: string): Promise<boolean> {
  try {
    await engine.get(instanceId);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "instance/not-found") {
      return false;
    }
    throw error;
  }
}
