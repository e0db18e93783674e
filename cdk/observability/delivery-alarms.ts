import { type Alarm, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { alarm, idOf } from "./alarm.ts";
import type { Installation } from "./installation.ts";

/** A rule or a schedule did not get through to its target. */
export function deliveryAlarms(scope: Construct, installation: Installation): readonly Alarm[] {
  return [...ofRules(scope, installation), ...ofSchedules(scope, installation)];
}

function ofRules(scope: Construct, { bus, functions }: Installation): readonly Alarm[] {
  const room = new Construct(scope, "Rules");
  const onBus = { EventBusName: bus.bus.eventBusName };
  const { accepted, requested } = bus.rules;
  const failed = (what: string, dimensionsMap: Record<string, string>) =>
    alarm(room, idOf(what), {
      says: `EventBridge could not deliver what the rule ${what} matched.`,
      metric: new Metric({
        namespace: "AWS/Events",
        metricName: "FailedInvocations",
        dimensionsMap,
        statistic: "Sum",
      }),
      above: 0,
    });
  return [
    failed("acceptedSignals", { RuleName: accepted.ruleName, ...onBus }),
    failed("requestedSignals", { RuleName: requested.ruleName, ...onBus }),
    failed("sweep", { RuleName: functions.sweepRule.rule.ruleName }),
  ];
}

function ofSchedules(scope: Construct, { schedules }: Installation): readonly Alarm[] {
  if (schedules === undefined) return [];
  const room = new Construct(scope, "Schedules");
  const { group } = schedules;
  return [
    alarm(room, "Dropped", {
      says: "Scheduler gave up on timers after a day of trying.",
      metric: group.metricDropped({ statistic: "Sum" }),
      above: 0,
    }),
    alarm(room, "Lost", {
      says: "Scheduler could not even put timers that it gave up on with the dead letters.",
      metric: group.metricFailedToBeSentToDLQ(undefined, { statistic: "Sum" }),
      above: 0,
    }),
  ];
}
