import type { Usage } from "../ports/meter.ts";
import { LOG_BYTES } from "./assumptions.ts";
import type { Purpose, Spent } from "./ledger.ts";
import { type Charge, chargesFor, PRICES, SERVICES, type Service } from "./prices.ts";

/** One line of a bill: what was used of a service, and dollars for a million steps. */
export type BillLine = Readonly<{ service: Service; units: number; perMillionSteps: number }>;

/** What steps cost, by service, in dollars for a million of them. */
export type Bill = Readonly<{
  lines: readonly BillLine[];
  /** The cost of one more step. */
  marginal: number;
  /** With start, listing, history and storage; without the call that starts. */
  allIn: number;
  /** The calls themselves, as the gateway bills them. */
  door: number;
  /**
   * The logs of functions and gateway, kept for a month; in none of the sums. The units are bytes.
   */
  logs: BillLine;
}>;

/** Adds up what was spent on so many steps. Microdollars for a step are dollars for a million. */
export function billFor(spent: readonly Spent[], stored: Charge, steps: number): Bill {
  const charges = [
    ...spent.flatMap(({ usage, purpose }) =>
      chargesFor(usage).map((charge) => ({ ...charge, purpose })),
    ),
    { ...stored, purpose: "storage" as const },
  ];
  const sum = (isWanted: (purpose: Purpose) => boolean) =>
    charges
      .filter(({ purpose }) => isWanted(purpose))
      .reduce((total, { microdollars }) => total + microdollars, 0) / steps;
  return {
    lines: SERVICES.flatMap((service) => lineOf(service, charges, steps)),
    marginal: sum((purpose) => purpose === "step"),
    allIn: sum((purpose) => purpose !== "door"),
    door: sum((purpose) => purpose === "door"),
    logs: logsOf(spent, steps),
  };
}

/** The log volume does not depend on the work: see the assumptions. */
function logsOf(spent: readonly Spent[], steps: number): BillLine {
  const bytes = spent.reduce((sum, { usage }) => sum + loggedBytes(usage), 0);
  const dollars = (bytes / 2 ** 30) * (PRICES.logsGb + PRICES.logsGbMonth);
  const perMillionSteps = (dollars * 1_000_000) / steps;
  return { service: "CloudWatch logs", units: bytes, perMillionSteps };
}

function loggedBytes(usage: Usage): number {
  if (usage.of === "lambda") return usage.invocations * LOG_BYTES.invocation;
  return usage.of === "http-api" ? usage.requests * LOG_BYTES.call : 0;
}

function lineOf(service: Service, charges: readonly Charge[], steps: number): readonly BillLine[] {
  const mine = charges.filter((charge) => charge.service === service);
  const total = (of: "units" | "microdollars") => mine.reduce((sum, each) => sum + each[of], 0);
  return mine.length === 0
    ? []
    : [{ service, units: total("units"), perMillionSteps: total("microdollars") / steps }];
}
