import { type Alarm, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { alarm, idOf } from "./alarm.ts";
import type { Installation } from "./installation.ts";

/** The table is throttled, or an index is, which blocks the table's writes. */
export function tableAlarms(scope: Construct, { table }: Installation): readonly Alarm[] {
  const room = new Construct(scope, "Throttled");
  const tableName = table.name;
  return [
    throttled(room, "table", { TableName: tableName }),
    ...["due", "listing"].map((index) =>
      throttled(room, index, { TableName: tableName, GlobalSecondaryIndexName: index }),
    ),
  ];
}

function throttled(
  room: Construct,
  what: string,
  dimensionsMap: Readonly<Record<string, string>>,
): Alarm {
  const events = (metricName: string) =>
    new Metric({
      namespace: "AWS/DynamoDB",
      metricName,
      dimensionsMap: { ...dimensionsMap },
      statistic: "Sum",
    });
  return alarm(room, idOf(what), {
    says: `DynamoDB refuses reads or writes (${what === "table" ? what : `index ${what}`}).`,
    metric: new MathExpression({
      label: `${what}: refused`,
      expression: "FILL(reads, 0) + FILL(writes, 0)",
      usingMetrics: { reads: events("ReadThrottleEvents"), writes: events("WriteThrottleEvents") },
    }),
    above: 0,
    periods: 2,
  });
}
