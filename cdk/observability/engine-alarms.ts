import { type Alarm, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { FunctionName } from "../bundle.ts";
import { alarm } from "./alarm.ts";
import type { Installation } from "./installation.ts";

const MAX_RECOVERED_PERCENT = 0.1;

/** The functions that run steps; each counts its own. */
const STEPPING = [
  "http-api",
  "run-task",
  "advance",
  "fire-timer",
  "run-work",
  "dead-letters",
] as const satisfies readonly FunctionName[];

const OF_ALL = STEPPING.map((_, n) => `FILL(s${n}, 0)`).join(" + ");

/** The sweep finds work that a queue or Scheduler should have delivered; an instance is stuck. */
export function engineAlarms(
  scope: Construct,
  { metricsNamespace }: Installation,
): readonly Alarm[] {
  const sum = (metricName: string, service: FunctionName) =>
    new Metric({
      namespace: metricsNamespace,
      metricName,
      dimensionsMap: { service },
      statistic: "Sum",
    });
  const inAll = (metricName: string) =>
    Object.fromEntries(STEPPING.map((service, n) => [`s${n}`, sum(metricName, service)]));
  return [
    alarm(scope, "SweepRecovered", {
      says: `The sweep had to send more than ${MAX_RECOVERED_PERCENT} % of all steps: a queue or Scheduler loses what it was given.`,
      metric: new MathExpression({
        label: "found by the sweep, in percent of steps",
        // Plus one, to avoid a division by zero.
        expression: `100 * FILL(recovered, 0) / (${OF_ALL} + 1)`,
        usingMetrics: { recovered: sum("SweepRecovered", "sweep"), ...inAll("Steps") },
      }),
      above: MAX_RECOVERED_PERCENT,
      periods: 3,
    }),
    alarm(scope, "Incidents", {
      says: "Instances are stuck because something failed for good.",
      metric: new MathExpression({
        label: "incidents",
        expression: OF_ALL,
        usingMetrics: inAll("Incidents"),
      }),
      above: 0,
    }),
  ];
}
