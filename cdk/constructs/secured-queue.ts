import { Duration, Stack } from "aws-cdk-lib";
import {
  Effect,
  type IGrantable,
  PolicyStatement,
  type ServicePrincipal,
} from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";

/** How long a dead letter is kept for operators: the longest that SQS allows. */
const DEAD_LETTER_RETENTION = Duration.days(14);

export type SecuredQueueProps = Omit<
  QueueProps,
  "encryption" | "enforceSSL" | "encryptionMasterKey"
> &
  Readonly<{ encryptionKey: IKey | undefined }>;

/** A queue that is encrypted, requires TLS, and grants single actions. */
export class SecuredQueue extends Queue {
  constructor(scope: Construct, id: string, { encryptionKey, ...props }: SecuredQueueProps) {
    super(scope, id, {
      ...props,
      enforceSSL: true,
      ...(encryptionKey === undefined
        ? { encryption: QueueEncryption.SQS_MANAGED }
        : { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }),
    });
  }

  /** Lets a function or a role send messages, and nothing else. */
  grantSend({ grantPrincipal }: IGrantable): void {
    allow(this, grantPrincipal, "sqs:SendMessage");
  }

  /** Lets an event source of Lambda poll, and its function change a message's visibility timeout. */
  grantConsume({ grantPrincipal }: IGrantable): void {
    allow(
      this,
      grantPrincipal,
      "sqs:ReceiveMessage",
      "sqs:DeleteMessage",
      "sqs:GetQueueAttributes",
      "sqs:ChangeMessageVisibility",
    );
  }

  /** Lets a service send messages on behalf of one resource of this account. */
  allowService(service: ServicePrincipal, sourceArn: string): void {
    this.addToResourcePolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        principals: [service],
        actions: ["sqs:SendMessage"],
        resources: [this.queueArn],
        conditions: {
          ArnEquals: { "aws:SourceArn": sourceArn },
          StringEquals: { "aws:SourceAccount": Stack.of(this).account },
        },
      }),
    );
  }
}

/** A queue for what could not be delivered. */
export class DeadLetterQueue extends SecuredQueue {
  constructor(scope: Construct, id: string, props: SecuredQueueProps) {
    super(scope, id, { retentionPeriod: DEAD_LETTER_RETENTION, ...props });
  }
}

/** Dead letters of a rule or of schedules, which no other queue names as its own. */
export class UndeliveredQueue extends DeadLetterQueue {
  constructor(scope: Construct, id: string, props: SecuredQueueProps) {
    super(scope, id, props);
    acknowledge(this, {
      "AwsSolutions-SQS3":
        "It is a queue of dead letters itself: EventBridge puts there what it could not deliver.",
    });
  }
}

function allow(queue: Queue, principal: IGrantable["grantPrincipal"], ...actions: string[]): void {
  principal.addToPrincipalPolicy(new PolicyStatement({ actions, resources: [queue.queueArn] }));
}
