import type { EmbeddedEngine, TrailNews } from "../../lib/embedded/index.ts";
import { curlLine } from "../describe-wait.ts";
import type { Server } from "../server.ts";

/** Tells, once for each, of tasks that wait for somebody outside, with the call that ends them. */
export function outsideTaskTeller(
  engine: EmbeddedEngine,
  server: Server,
  tell: (text: string) => void,
): (news: TrailNews) => Promise<void> {
  const told = new Set<string>();
  return async ({ type, element, instanceId }) => {
    if (type !== "element-entered") return;
    const { items } = await engine.waits(instanceId);
    for (const { kind, element: at, taskId, runsHere, wakeWith } of items) {
      const isOutside = kind === "task" && at === element && runsHere === false;
      if (!isOutside || taskId === undefined || told.has(taskId)) continue;
      told.add(taskId);
      tell(`${instanceId} waits at ${at} for somebody outside. This call lets it go on:`);
      if (wakeWith !== undefined) tell(`  ${curlLine(server, wakeWith)}`);
    }
  };
}
