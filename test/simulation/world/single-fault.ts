// One run for each point where one fault can occur.
import type { Fault, Side } from "../actors/actors.ts";
import { type Injection, OWN_QUEUE_FAULTS, SCHEDULER } from "../actors/troubles.ts";
import { compareWithFaultFree, type Setting, simulate } from "./run.ts";

/** A port call of a run without faults. */
export type PortCall = Readonly<{ call: number; point: string }>;

/** Returns the calls of a run without faults; throws what is wrong with it. */
export async function calm(setting: Setting): Promise<readonly PortCall[]> {
  const { trace, problem } = await simulate(setting);
  if (problem) throw problem;
  return trace.flatMap((line) => {
    const [, point, call] = /: before (\S+) \((\d+)\)$/.exec(line) ?? [];
    return point === undefined || call === "0" ? [] : [{ call: Number(call), point }];
  });
}

/** Runs with each of these faults; returns the violations, and where. */
export async function strike(
  setting: Setting,
  injections: readonly Injection[],
): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const injection of injections) {
    const run = await compareWithFaultFree(setting, await simulate(setting, { injection }));
    if (run.problem) broken.push(`${JSON.stringify(injection)}: ${run.problem.message}`);
  }
  return broken;
}

/** A crash before each call and after each that changes something: a read leaves nothing behind. */
export function crashes(calls: readonly PortCall[]): readonly Injection[] {
  return calls.flatMap(({ call, point }) => {
    const sides: readonly Side[] = isRead(point) ? ["before"] : ["before", "after"];
    return sides.map((side) => ({ call, side, fault: "crash" }) as const);
  });
}

const isRead = (point: string): boolean => /^(store\.(get|scan|due|list)|clock\.)/.test(point);

/** Whatever the store, the bus and the queues may answer to each call. */
export function refusals(calls: readonly PortCall[]): readonly Injection[] {
  return calls.flatMap(({ call, point }) =>
    (REFUSALS[point] ?? []).map((fault) => ({ call, side: "before", fault }) as const),
  );
}

const REFUSALS: Readonly<Record<string, readonly Fault[]>> = {
  "store.commit": [
    { fault: "busy", retryAfterMs: 20 },
    { fault: "unknown", applied: true },
    { fault: "unknown", applied: false },
    { fault: "unknown", applied: "later" },
    { fault: "reversed" },
  ],
  "store.tidy": [{ fault: "lost" }],
  "blobs.put": [{ fault: "refused" }, { fault: "unanswered" }],
  "blobs.get": [{ fault: "refused" }],
  "blobs.expire": [{ fault: "refused" }, { fault: "unanswered" }],
  "blobs.remove": [{ fault: "refused" }, { fault: "unanswered" }],
  "bus.publish": [
    { fault: "refused" },
    { fault: "unanswered" },
    { fault: "duplicated" },
    { fault: "delayed", byMs: 45_000 },
  ],
  "own-queue.send": OWN_QUEUE_FAULTS,
  "scheduler.create": SCHEDULER,
  "scheduler.delete": [{ fault: "lost" }],
  "pages.send": [{ fault: "duplicated" }, { fault: "delayed", byMs: 45_000 }],
};
