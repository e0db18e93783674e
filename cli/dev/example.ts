import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { InstanceView, StartRequest } from "../../lib/client/index.ts";

/** An example in BPMN, with its handlers. */
export type Example = Readonly<{ definitionId: string; file: string; tasks: string }>;

/** An example in TypeScript; its steps are in the same folder. */
export type CodeExample = Readonly<{ definitionId: string; workflows: string }>;

/** An engine, in this process or behind its API. */
type Engine = Readonly<{
  deploy(source: string): Promise<unknown>;
  start(definitionId: string, request: StartRequest): Promise<unknown>;
  get(instanceId: string): Promise<InstanceView>;
}>;

/** The examples of the repository, the one to start first; the published package has none. */
export function findExamples(): readonly Example[] {
  return ["approval", "payment", "order"].flatMap((definitionId) => {
    const file = pathOf(`${definitionId}/${definitionId}.bpmn`);
    const tasks = pathOf(`${definitionId}/tasks`);
    return existsSync(file) ? [{ definitionId, file, tasks }] : [];
  });
}

/** The example in TypeScript that is started beside; the published package has none. */
export function findCodeExamples(): readonly CodeExample[] {
  const workflows = pathOf("order-code/workflows");
  return existsSync(workflows) ? [{ definitionId: "checkout", workflows }] : [];
}

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

/** Deploys the example; deploying it again changes nothing. */
export async function deployExample(engine: Engine, { file }: Example): Promise<void> {
  await engine.deploy(readFileSync(file, "utf8"));
}

/**
 * Starts one of each with the first free id, approval-1 the first time, approval-2 after a restart;
 * reports the ids before the first start.
 */
export async function startExamples(
  engine: Engine,
  examples: readonly Pick<Example, "definitionId">[],
  tell: (instanceIds: readonly string[]) => void,
): Promise<void> {
  const starts = await Promise.all(
    examples.map(async ({ definitionId }) => ({
      definitionId,
      instanceId: await freeId(engine, definitionId),
    })),
  );
  tell(starts.map(({ instanceId }) => instanceId));
  for (const { definitionId, instanceId } of starts) {
    await engine.start(definitionId, { instanceId, ...REQUESTS[definitionId] });
  }
}

/** What the examples are started with: their timers are short, so that the reader sees them move. */
const REQUESTS: Readonly<Record<string, StartRequest>> = {
  approval: { variables: { requester: "Ada", what: "a second screen", remindEvery: "PT5S" } },
  checkout: { input: { orderId: "1001", total: 42, cancelWithin: "10s" } },
};

async function freeId(engine: Engine, definitionId: string): Promise<string> {
  let n = 1;
  while (await exists(engine, `${definitionId}-${n}`)) n += 1;
  return `${definitionId}-${n}`;
}

async function exists(engine: Engine, instanceId: string): Promise<boolean> {
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
