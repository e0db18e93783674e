import { Duration, Stack } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { EVENTS } from "./rule-delivery.ts";
import { UndeliveredQueue } from "./secured-queue.ts";

/** A sweep that could not start for so long is useless: later ones have run meanwhile. */
const MAX_AGE = Duration.minutes(5);

export type SweepRuleProps = Readonly<{
  sweep: LambdaFunction;
  encryptionKey: IKey | undefined;
  enabled: boolean;
}>;

/** Invokes the sweep each minute. */
export class SweepRule extends Construct {
  readonly rule: Rule;
  readonly deadLetters: UndeliveredQueue;

  constructor(scope: Construct, id: string, { sweep, encryptionKey, enabled }: SweepRuleProps) {
    super(scope, id);
    this.deadLetters = new UndeliveredQueue(this, "DeadLetters", { encryptionKey });
    this.rule = new Rule(this, "Rule", {
      description: "Fermata: looks for what is overdue, each minute",
      enabled,
      schedule: Schedule.rate(Duration.minutes(1)),
    });
    this.rule.addTarget({
      bind: () => ({
        arn: sweep.functionArn,
        deadLetterConfig: { arn: this.deadLetters.queueArn },
        retryPolicy: { maximumRetryAttempts: 2, maximumEventAgeInSeconds: MAX_AGE.toSeconds() },
      }),
    });
    this.deadLetters.allowService(EVENTS, this.rule.ruleArn);
    sweep.addPermission("Rule", {
      principal: EVENTS,
      sourceArn: this.rule.ruleArn,
      sourceAccount: Stack.of(this).account,
    });
    // A failed sweep is not retried: the next one follows in a minute.
    sweep.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: MAX_AGE });
  }
}
