import type { Rule } from "aws-cdk-lib/aws-events";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { type SecuredQueue, UndeliveredQueue } from "./secured-queue.ts";

/** The service that delivers events. */
export const EVENTS = new ServicePrincipal("events.amazonaws.com");

export type RuleDeliveryProps = Readonly<{
  rule: Rule;
  queue: SecuredQueue;
  encryptionKey: IKey | undefined;
}>;

/**
 * Delivers the whole events of one rule to a queue, with retries for a day; then to its dead
 * letters.
 */
export class RuleDelivery extends Construct {
  readonly deadLetters: UndeliveredQueue;

  constructor(scope: Construct, id: string, props: RuleDeliveryProps) {
    super(scope, id);
    const { rule, queue, encryptionKey } = props;
    const deadLetters = new UndeliveredQueue(this, "DeadLetters", { encryptionKey });
    for (const target of [queue, deadLetters]) target.allowService(EVENTS, rule.ruleArn);
    rule.addTarget({
      bind: () => ({
        arn: queue.queueArn,
        deadLetterConfig: { arn: deadLetters.queueArn },
      }),
    });
    this.deadLetters = deadLetters;
  }
}
