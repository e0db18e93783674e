// A user's own queues for the end-to-end tests, created beside the deployment as a user would.

import { randomUUID } from "node:crypto";
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { AwsPlace } from "./aws-place.ts";
import type { Context } from "./cdk.ts";

/** The queues by purpose; their names end with it. */
export const E2E_QUEUES = { cards: "cards", shut: "shut", gone: "gone" } as const;

type E2eQueues = Readonly<{
  context: Context;
  /** Removes them. */
  drop: () => Promise<void>;
}>;

/** Creates two queues, and returns the settings to deploy with them: the third one never exists. */
export async function e2eQueues({ endpoint, region, credentials }: AwsPlace): Promise<E2eQueues> {
  const client = new SQSClient({
    region,
    useQueueUrlAsEndpoint: false,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
  });
  const prefix = `fermata-e2e-${randomUUID().slice(0, 8)}`;
  const create = async (name: string) => {
    const made = await client.send(new CreateQueueCommand({ QueueName: `${prefix}-${name}` }));
    return made.QueueUrl ?? "";
  };
  const urls = [await create(E2E_QUEUES.cards), await create(E2E_QUEUES.shut)];
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: urls[0], AttributeNames: ["QueueArn"] }),
  );
  const cards = Attributes?.QueueArn ?? "";
  const arns = Object.values(E2E_QUEUES).map((name) => cards.replace(/cards$/, name));
  return {
    context: { taskQueues: arns.join(",") },
    drop: async () => {
      for (const QueueUrl of urls) await client.send(new DeleteQueueCommand({ QueueUrl }));
      client.destroy();
    },
  };
}
