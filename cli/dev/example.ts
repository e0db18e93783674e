import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { InstanceView, StartRequest } from "../../lib/client/index.ts";

/** An example workflow of the repository. */
export type Example = Readonly<{ definitionId: string; file: string; tasks: string }>;

/** An engine, in this process or behind its API. */
type Engine = Readonly<{
  deploy(source: string): Promise<unknown>;
  start(definitionId: string, request: StartRequest): Promise<unknown>;
  get(instanceId: string): Promise<InstanceView>;
}>;

/** The examples of the repository, the one to start first; the published package has none. */
export function findExamples(): readonly Example[] {
  return ["approval", "payment", "order"].flatMap((definitionId) => {
    const folder = new URL(`../../examples/${definitionId}/`, import.meta.url);
    const file = fileURLToPath(new URL(`${definitionId}.bpmn`, folder));
    const tasks = fileURLToPath(new URL("tasks", folder));
    return existsSync(file) ? [{ definitionId, file, tasks }] : [];
  });
}

/** Deploys the example; deploying it again changes nothing. */
export async function deployExample(engine: Engine, { file }: Example): Promise<void> {
  await engine.deploy(readFileSync(file, "utf8"));
}

/**
 * Starts one with the first free id, approval-1 the first time, approval-2 after a restart; reports
 * the id before the start.
 */
export async function startExample(
  engine: Engine,
  { definitionId }: Example,
  tell: (instanceId: string) => void,
): Promise<void> {
  let n = 1;
  while (await exists(engine, `${definitionId}-${n}`)) n += 1;
  const instanceId = `${definitionId}-${n}`;
  tell(instanceId);
  await engine.start(definitionId, { instanceId, variables: REQUEST });
}

/** The reminders are frequent, so that the first appear while the reader looks at the output. */
const REQUEST = { requester: "Ada", what: "a second screen", remindEvery: "PT5S" };

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
