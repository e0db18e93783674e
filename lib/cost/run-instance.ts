import type { Engine } from "../engine/engine.ts";
import type { HistoryEntry, StartRequest, WaitView } from "../shapes/instances.ts";
import type { Installation } from "./installation.ts";
import type { Ledger } from "./ledger.ts";

/** The outcome of an instance: its history, or why it does not end. */
export type Run = Readonly<
  { kind: "ended"; history: readonly HistoryEntry[] } | { kind: "stuck"; why: string }
>;

/**
 * Starts an instance and runs it to its end: each wait gets what it waits for, by a call or by
 * time.
 */
export async function runInstance(
  { engine, settle, passTime, call }: Installation,
  ledger: Ledger,
  definitionId: string,
  request: StartRequest,
): Promise<Run> {
  const { instanceId } = await ledger.on("start", () =>
    call(() => engine.start(definitionId, request)),
  );
  let delivered = 0;
  for (;;) {
    delivered += await settle(MAX_DELIVERIES - delivered);
    const view = await ledger.aside(() => engine.get(instanceId));
    if (view.endedAt !== undefined) {
      return { kind: "ended", history: await ledger.aside(() => wholeHistory(engine, instanceId)) };
    }
    if (delivered >= MAX_DELIVERIES) {
      return { kind: "stuck", why: `it has not ended after ${MAX_DELIVERIES} messages` };
    }
    const [incident] = view.incidents;
    if (incident !== undefined) {
      const message = incident.message.replace(/\.+$/, "");
      return { kind: "stuck", why: `${incident.element} met an incident: ${message}` };
    }
    const wake = view.waits.map((wait) => waking(engine, instanceId, wait)).find(Boolean);
    if (wake !== undefined) await call(wake);
    else if (!passTime()) return { kind: "stuck", why: "nothing would ever wake it" };
  }
}

/** More than any instance that ends should need. */
const MAX_DELIVERIES = 10_000;

/** The call that resumes a wait; undefined if it is a timer, or the engine itself. */
function waking(
  engine: Engine,
  instanceId: string,
  { kind, name = "", correlationKey = "", taskId, runsHere }: WaitView,
): (() => Promise<unknown>) | undefined {
  switch (kind) {
    case "signal":
      return () => engine.signal({ name });
    case "message":
      return () => engine.message({ name, correlationKey });
    case "event":
      return () => engine.event({ name, target: instanceId });
    case "task":
      return runsHere || taskId === undefined ? undefined : () => engine.completeTask(taskId);
    case "timer":
    case "child":
    case "continuation":
    case "incident":
      return undefined;
  }
}

async function wholeHistory(engine: Engine, instanceId: string): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.history(instanceId, { limit: 200, ...(cursor && { cursor }) });
    entries.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return entries;
}
