import { Stack } from "aws-cdk-lib";
import { EventBus, Rule } from "aws-cdk-lib/aws-events";
import { type IGrantable, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { RuleDelivery } from "./rule-delivery.ts";
import type { DeadLetterQueue, SecuredQueue } from "./secured-queue.ts";

export type SignalBusProps = Readonly<{
  encryptionKey: IKey | undefined;
  workQueue: SecuredQueue;
}>;

/** The bus of every broadcast, so that other systems can subscribe, and request a signal. */
export class SignalBus extends Construct {
  readonly bus: EventBus;
  /** What the rules could not deliver, by rule. */
  readonly deadLetters: Readonly<Record<"accepted" | "requested", DeadLetterQueue>>;
  readonly rules: Readonly<Record<"accepted" | "requested", Rule>>;

  constructor(scope: Construct, id: string, { encryptionKey, workQueue }: SignalBusProps) {
    super(scope, id);
    this.bus = new EventBus(this, "Bus", {
      ...(encryptionKey !== undefined && { kmsKey: encryptionKey }),
    });
    const toWorkQueue = { encryptionKey, queue: workQueue };
    const accepted = new Rule(this, "Accepted", {
      description: "Signals and events that were accepted go to their subscribers",
      eventBus: this.bus,
      // Any publisher can write all of this except the account: the function trusts none of it.
      eventPattern: {
        source: ["fermata"],
        detailType: ["signal-accepted"],
        account: [Stack.of(this).account],
        detail: { kind: ["broadcast"] },
      },
    });
    const requested = new Rule(this, "Requested", {
      description: "Signals that events of other systems request",
      eventBus: this.bus,
      eventPattern: { detailType: ["signal-requested"] },
    });
    // Whole events, both: what comes over the bus can never look like a message of the engine
    // itself, and the id that EventBridge gave a request makes it idempotent.
    const deliverAccepted = new RuleDelivery(this, "AcceptedDelivery", {
      ...toWorkQueue,
      rule: accepted,
    });
    const deliverRequested = new RuleDelivery(this, "RequestedDelivery", {
      ...toWorkQueue,
      rule: requested,
    });
    this.rules = { accepted, requested };
    this.deadLetters = {
      accepted: deliverAccepted.deadLetters,
      requested: deliverRequested.deadLetters,
    };
  }

  /** Lets a function publish; other publishers need the bus's own policy. */
  grantPublish({ grantPrincipal }: IGrantable): void {
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["events:PutEvents"], resources: [this.bus.eventBusArn] }),
    );
  }
}
