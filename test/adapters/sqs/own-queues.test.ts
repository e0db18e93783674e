// Responses of SQS that the emulator cannot produce.

import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, test } from "vitest";
import { SqsOwnQueues } from "../../../lib/adapters/sqs/own-queues.ts";
import {
  type Canned,
  type CannedService,
  cannedService,
  refusal,
} from "../../support/canned-service.ts";

const ARN = "arn:aws:sqs:us-east-1:000000000000:cards";

describe("a queue of the user's", () => {
  let service: CannedService;
  afterEach(() => service.close());

  /** Answers the request for the queue's URL first, then with these. */
  async function aQueue(...answers: readonly Canned[]) {
    service = await cannedService(
      { body: { QueueUrl: "http://sqs/000000000000/cards" } },
      ...answers,
    );
    const client = new SQSClient({ ...service.settings, useQueueUrlAsEndpoint: false, md5: false });
    return new SqsOwnQueues({ client, allowed: [ARN] });
  }

  test.each([
    "AccessDenied",
    "QueueDoesNotExist",
    "KmsAccessDenied",
    "KmsDisabled",
    "InvalidMessageContents",
  ])("that refuses a task permanently reports it: %s", async (type) => {
    const queues = await aQueue(refusal(type, type === "AccessDenied" ? 403 : 400));

    expect(await queues.send(ARN, "{}", 0)).toBe("refused");
  });

  test.each([
    ["RequestThrottled", 400],
    ["ThrottlingException", 400],
    ["KmsThrottled", 400],
    ["TooManyRequests", 429],
    ["ServiceUnavailable", 503],
    ["InternalError", 500],
  ])("that may accept it the next time throws a retryable error: %s", async (type, status) => {
    const queues = await aQueue(refusal(type, status));

    await expect(queues.send(ARN, "{}", 0)).rejects.toMatchObject({
      code: "queue/send-failed",
      retryable: true,
      message: expect.stringMatching(`queue ${ARN}; ${type}`),
    });
  });

  test("that cannot be reached throws an error, and is not judged", async () => {
    const queues = await aQueue();
    await service.close();

    for (const asked of [queues.send(ARN, "{}", 0), queues.problemOf(ARN)]) {
      await expect(asked).rejects.toMatchObject({ code: "queue/send-failed", retryable: true });
    }
  });

  test("that may not be read reports the name of the refusal, and nothing else of SQS's text", async () => {
    service = await cannedService(refusal("AccessDenied", 403));
    const client = new SQSClient(service.settings);
    const queues = new SqsOwnQueues({ client, allowed: [ARN] });

    expect(await queues.problemOf(ARN)).toBe("SQS answers AccessDenied");
  });

  test("is looked up by account and name once, and sent to without a delay", async () => {
    const queues = await aQueue({ body: { MessageId: "m" } });

    await queues.send(ARN, "1", 0);
    await queues.send(ARN, "2", 1_500);

    expect(service.asked.map((body) => JSON.parse(body))).toEqual([
      { QueueName: "cards", QueueOwnerAWSAccountId: "000000000000" },
      { QueueUrl: "http://sqs/000000000000/cards", MessageBody: "1" },
      { QueueUrl: "http://sqs/000000000000/cards", MessageBody: "2", DelaySeconds: 2 },
    ]);
  });

  test.each([
    ["cards", "not the ARN"],
    ["arn:aws:sns:us-east-1:000000000000:cards", "not the ARN"],
    ["arn:aws:sqs:us-east-1:1:cards", "not the ARN"],
    ["arn:aws:sqs:us-east-1:000000000000:cards:more", "not the ARN"],
    ["arn:aws:sqs:us-east-1:000000000000:cards.fifo", "FIFO"],
    [
      "arn:aws:sqs:eu-west-1:000000000000:cards",
      "in eu-west-1, and this installation in us-east-1",
    ],
  ])("with an invalid name is not looked up: %s", async (arn, why) => {
    service = await cannedService();
    const queues = new SqsOwnQueues({ client: new SQSClient(service.settings), allowed: [arn] });

    expect(await queues.problemOf(arn)).toContain(why);
    expect(await queues.send(arn, "{}", 0)).toBe("refused");
    expect(service.asked).toEqual([]);
  });
});
