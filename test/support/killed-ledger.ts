import { readFileSync } from "node:fs";
import type { Instance } from "../../lib/kernel/instance.ts";

/** One run of a handler, as it was recorded before it did anything. */
export type Run = Readonly<{ life: number; key: string; attempt: number; element: string }>;

/** All runs of all processes, in order. */
export function readLedger(file: string): readonly Run[] {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [life, key, attempt, element] = line.split(" ");
    if (key === undefined || element === undefined) throw new Error(`not a run: ${line}`);
    return { life: Number(life), key, attempt: Number(attempt), element };
  });
}

/** What a kill hit. `atWork`: handlers that had started; `waiting`: tasks that had not started. */
export type Hit = Readonly<{ live: number; atWork: number; waiting: number }>;

/**
 * Between commit and dispatch: the task's ticket is in the store, and its key is not in the ledger.
 * Tasks that back off do not wait for a handler, and those that have failed before are left out:
 * their key is known.
 */
export function hitOf(
  instances: readonly Instance[],
  ledger: readonly Run[],
  killedAt: number,
): Hit {
  const begun = new Set(ledger.map(({ key }) => key));
  const tasks = instances.flatMap(({ id, tickets }) =>
    tickets.flatMap((ticket) =>
      ticket.on === "task" ? [{ ...ticket, key: `${id}:${ticket.id}` }] : [],
    ),
  );
  const due = tasks.filter(({ notBefore }) => notBefore === undefined || notBefore <= killedAt);
  const waiting = due.filter(({ key }) => !begun.has(key)).length;
  return { live: instances.length, atWork: due.length - waiting, waiting };
}
