import { NestedStack } from "aws-cdk-lib";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { deliveryAlarms } from "./delivery-alarms.ts";
import { engineAlarms } from "./engine-alarms.ts";
import { functionAlarms } from "./function-alarms.ts";
import type { Installation } from "./installation.ts";
import { queueAlarms } from "./queue-alarms.ts";
import { tableAlarms } from "./table-alarms.ts";

export type AlarmOptions = Readonly<{
  /** The topic to notify; by default an alarm shows in the console only. */
  topic?: ITopic;
}>;

export type ObservabilityProps = AlarmOptions & Readonly<{ of: Installation }>;

/** The alarms of an installation, in a nested stack that can be removed without affecting the engine. */
export class Observability extends NestedStack {
  constructor(scope: Construct, id: string, { topic, of }: ObservabilityProps) {
    super(scope, id, { description: "Alarms of a Fermata installation" });
    const alarms = [
      ...functionAlarms(this, of),
      ...queueAlarms(this, of),
      ...tableAlarms(this, of),
      ...deliveryAlarms(this, of),
      ...engineAlarms(this, of),
    ];
    if (topic === undefined) return;
    for (const alarm of alarms) alarm.addAlarmAction(new SnsAction(topic));
  }
}
