import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";

/** Where operators read what each alarm means, and what to do. */
const GUIDE = "docs/how-to/operate.md#alarms-and-what-to-do";

export type AlarmSpec = Readonly<{
  /** What has happened, in one sentence. */
  says: string;
  metric: IMetric;
  above: number;
  /** Periods in a row that must be above; one by default. */
  periods?: number;
}>;

/** An alarm that treats missing data as not breaching, with a link to the guide. */
export function alarm(scope: Construct, id: string, spec: AlarmSpec): Alarm {
  const { says, metric, above, periods = 1 } = spec;
  return new Alarm(scope, id, {
    alarmDescription: `${says} What to do: ${GUIDE}`,
    metric,
    threshold: above,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: periods,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}

/** The construct id of a role. */
export function idOf(role: string): string {
  return `${role.charAt(0).toUpperCase()}${role.slice(1)}`;
}
