import { type Alarm, MathExpression } from "aws-cdk-lib/aws-cloudwatch";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { alarm, idOf } from "./alarm.ts";
import type { Installation } from "./installation.ts";

const MAX_ERROR_PERCENT = 1;
/** Of its timeout: beyond, some invocations will soon time out. */
const MAX_DURATION_SHARE = 0.8;

/** For each function: errors, throttles, duration. */
export function functionAlarms(scope: Construct, { functions }: Installation): readonly Alarm[] {
  const rooms = new Construct(scope, "Functions");
  return Object.entries(functions.byRole).flatMap(([role, { fn }]) => {
    const room = new Construct(rooms, idOf(role));
    return [errors(room, role, fn), throttles(room, role, fn), duration(room, role, fn)];
  });
}

function errors(room: Construct, role: string, fn: LambdaFunction): Alarm {
  return alarm(room, "Errors", {
    says: `More than ${MAX_ERROR_PERCENT} % of the calls of the function ${role} fail.`,
    metric: new MathExpression({
      label: `${role}: errors in percent`,
      expression: "100 * errors / IF(calls > 0, calls, 1)",
      usingMetrics: { errors: fn.metricErrors(), calls: fn.metricInvocations() },
    }),
    above: MAX_ERROR_PERCENT,
    periods: 2,
  });
}

function throttles(room: Construct, role: string, fn: LambdaFunction): Alarm {
  return alarm(room, "Throttles", {
    says: `Calls of the function ${role} are refused for want of concurrency.`,
    metric: fn.metricThrottles({ statistic: "Sum" }),
    above: 0,
    periods: 3,
  });
}

function duration(room: Construct, role: string, fn: LambdaFunction): Alarm {
  const timeoutMs = fn.timeout?.toMilliseconds() ?? 3_000;
  return alarm(room, "Duration", {
    says: `One in a hundred calls of the function ${role} needs more than ${MAX_DURATION_SHARE * 100} % of its time.`,
    metric: fn.metricDuration({ statistic: "p99" }),
    above: timeoutMs * MAX_DURATION_SHARE,
    periods: 3,
  });
}
