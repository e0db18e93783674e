import type { EmbeddedEngine, TrailNews, WaitView } from "../../lib/embedded/index.ts";
import { curlLine, wakingLine } from "../call-lines.ts";
import { awaitedBy } from "../describe-wait.ts";
import type { Server } from "../server.ts";

/** Reports each wait for external input once, with the call that provides it. */
export function outsideWaitTeller(
  engine: EmbeddedEngine,
  { program, server }: Readonly<{ program: string; server: Server }>,
  tell: (text: string) => void,
): (news: TrailNews) => Promise<void> {
  const told = new Map<string, Set<string>>();
  return async ({ type, instanceId }) => {
    if (type === "instance-ended") told.delete(instanceId);
    if (type !== "element-entered") return;
    const { items } = await engine.waits(instanceId);
    for (const wait of items.filter(isOutside)) {
      if (!isNew(told, instanceId, wait)) continue;
      const { element, wakeWith } = wait;
      tell(`${instanceId} waits at ${element} for ${awaitedBy(wait)}. To continue:`);
      const byCommand = wakingLine(program, server, instanceId, wait);
      if (byCommand !== undefined) tell(`  ${byCommand}`);
      else if (wakeWith !== undefined) tell(`  ${curlLine(server, wakeWith)}`);
    }
  };
}

function isOutside({ kind, runsHere }: WaitView): boolean {
  switch (kind) {
    case "task":
      return runsHere === false;
    case "signal":
    case "message":
    case "event":
      return true;
    case "timer":
    case "child":
    case "continuation":
    case "incident":
      return false;
  }
}

function isNew(told: Map<string, Set<string>>, instanceId: string, wait: WaitView): boolean {
  const { kind, element, since, taskId = "" } = wait;
  const known = told.get(instanceId) ?? new Set();
  const name = [kind, element, since, taskId].join(" ");
  if (known.has(name)) return false;
  told.set(instanceId, known.add(name));
  return true;
}
