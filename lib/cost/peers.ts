import {
  ASSUMED_MS,
  DURABLE_KEPT_DAYS,
  DURABLE_OPERATION_BYTES,
  MEMORY_MB,
} from "./assumptions.ts";
import type { Counts } from "./counts.ts";
import { PRICES } from "./prices.ts";

/** Another engine, and what it would charge for the same work, in millionths of a dollar. */
export type Peer = Readonly<{ name: string; counted: string; microdollars: number }>;

/** The same work on two services of AWS, counted in their favour if in doubt. */
export function peersFor(counts: Counts): readonly Peer[] {
  return [stepFunctions(counts), durableFunctions(counts)];
}

/** A transition for each state and each retry, and a function for each attempt of a task. */
function stepFunctions({ states, attempts }: Counts): Peer {
  return {
    name: "Step Functions Standard",
    counted: `${states} transitions, ${attempts} invocations`,
    microdollars:
      states * PRICES.stepFunctionsTransitions +
      attempts * (PRICES.lambdaInvocations + computeFor(1)),
  };
}

/** An operation for the start and each step, and an invocation up to each wait. */
function durableFunctions({ steps, attempts, waits }: Counts): Peer {
  const invocations = waits + 1;
  const gigabytes = (steps * DURABLE_OPERATION_BYTES) / 2 ** 30;
  const keptMonths = DURABLE_KEPT_DAYS / 30;
  return {
    name: "Lambda durable functions",
    counted: `${steps + 1} operations, ${invocations} invocations`,
    microdollars:
      (steps + 1) * PRICES.durableOperations +
      gigabytes * PRICES.durableWrittenGb * 1_000_000 +
      gigabytes * keptMonths * PRICES.durableRetainedGbMonth * 1_000_000 +
      invocations * PRICES.lambdaInvocations +
      computeFor(attempts),
  };
}

/** The handlers alone, with the same memory as ours. */
function computeFor(attempts: number): number {
  const gbSeconds = (ASSUMED_MS.handler / 1_000) * (MEMORY_MB["run-task"] / 1_024);
  return attempts * gbSeconds * PRICES.lambdaGbSecond * 1_000_000;
}
