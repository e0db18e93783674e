import { ArnFormat, RemovalPolicy, Stack } from "aws-cdk-lib";
import { type IGrantable, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import { type SecuredQueue, UndeliveredQueue } from "./secured-queue.ts";

export type TimerSchedulesProps = Readonly<{
  encryptionKey: IKey | undefined;
  timersQueue: SecuredQueue;
}>;

/** What one-shot timers need: a group to hold them, and a role that may send to the timer queue. */
export class TimerSchedules extends Construct {
  /** Deleted with the installation, together with the remaining schedules. */
  readonly group: ScheduleGroup;
  readonly caller: Role;
  /** What Scheduler could not deliver in a day; the sweep has sent it meanwhile. */
  readonly deadLetters: UndeliveredQueue;

  constructor(scope: Construct, id: string, { encryptionKey, timersQueue }: TimerSchedulesProps) {
    super(scope, id);
    this.group = new ScheduleGroup(this, "Group", { removalPolicy: RemovalPolicy.DESTROY });
    this.caller = new Role(this, "Caller", {
      description: "Sends timers that fall due to their queue",
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: {
          StringEquals: {
            "aws:SourceAccount": Stack.of(this).account,
            "aws:SourceArn": this.group.scheduleGroupArn,
          },
        },
      }),
    });
    this.deadLetters = new UndeliveredQueue(this, "DeadLetters", { encryptionKey });
    timersQueue.grantSend(this.caller);
    // Scheduler sends to the dead letters with the same role.
    this.deadLetters.grantSend(this.caller);
    if (encryptionKey !== undefined) allowKey(this.caller, encryptionKey);
  }

  /** Lets a function create and cancel timers of this installation, and nothing else. */
  grantSchedule({ grantPrincipal }: IGrantable): void {
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"],
        resources: [this.schedules()],
      }),
    );
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["iam:PassRole"],
        resources: [this.caller.roleArn],
        conditions: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
      }),
    );
  }

  /** Each timer is a schedule of its own, named after its ticket: their ARNs in one. */
  schedules(): string {
    return Stack.of(this).formatArn({
      service: "scheduler",
      resource: "schedule",
      resourceName: `${this.group.scheduleGroupName}/*`,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
  }
}

/** The permissions to send to an encrypted queue. */
function allowKey(role: Role, key: IKey): void {
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ["kms:GenerateDataKey", "kms:Decrypt"],
      resources: [key.keyArn],
    }),
  );
}
