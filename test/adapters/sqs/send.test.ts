import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, test } from "vitest";
import { delaySeconds, send } from "../../../lib/adapters/sqs/send.ts";
import type { Usage } from "../../../lib/ports/meter.ts";
import { type CannedService, cannedService, refusal } from "../../support/canned-service.ts";

describe("the delay of a message", () => {
  test.each([
    [-3_600_000, 0],
    [0, 0],
    [1, 1],
    [999, 1],
    [1_000, 1],
    [1_001, 2],
    [899_001, 900],
    [900_000, 900],
    [900_001, 900],
    [Number.MAX_SAFE_INTEGER, 900],
  ])("of %i ms is %i s", (afterMs, seconds) => {
    expect(delaySeconds(afterMs)).toBe(seconds);
  });
});

describe("a queue that refuses a message", () => {
  let service: CannedService;
  afterEach(() => service.close());

  test.each(["RequestThrottled", "AccessDeniedException", "QueueDoesNotExist"])(
    "is named in the error, with its reason: %s",
    async (type) => {
      service = await cannedService(refusal(type));
      const used: Usage[] = [];
      const client = new SQSClient(service.settings);
      const queueUrl = `${service.settings.endpoint}/000000000000/tasks`;

      const sent = send(
        { client, queueUrl, meter: (usage) => used.push(usage) },
        { body: "{}", group: "default" },
      );

      await expect(sent).rejects.toMatchObject({
        code: "queue/send-failed",
        retryable: true,
        message: expect.stringMatching(`queue tasks.*${type}`),
      });
      expect(used).toEqual([]);
    },
  );
});
