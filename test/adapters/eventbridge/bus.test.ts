import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { afterEach, describe, expect, test } from "vitest";
import { EventBridgeBus } from "../../../lib/adapters/eventbridge/bus.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Announcement, Broadcast } from "../../../lib/ports/bus.ts";
import {
  type Canned,
  type CannedService,
  cannedService,
  refusal,
} from "../../support/canned-service.ts";

const entryRefused: Canned = {
  body: { FailedEntryCount: 1, Entries: [{ ErrorCode: "InternalFailure", ErrorMessage: "later" }] },
};
const taken: Canned = { body: { FailedEntryCount: 0, Entries: [{ EventId: "e1" }] } };

describe("a bus that does not take an event", () => {
  let service: CannedService;
  afterEach(() => service.close());

  async function open(...answers: Canned[]): Promise<EventBridgeBus> {
    service = await cannedService(...answers);
    const client = new EventBridgeClient(service.settings);
    const clock = { pause: async () => {} };
    return new EventBridgeBus({ client, busName: "bus", announces: true, clock });
  }

  test("is retried three times", async () => {
    const bus = await open(entryRefused, entryRefused, entryRefused, taken);

    expect(await bus.publish(aBroadcast)).toBe(true);
    expect(service.asked).toHaveLength(4);
  });

  test("fails the broadcast after four refusals", async () => {
    const bus = await open(entryRefused, entryRefused, entryRefused, entryRefused, taken);

    expect(await bus.publish(aBroadcast)).toBe(false);
    expect(service.asked).toHaveLength(4);
  });

  test.each([refusal("ThrottlingException", 429), refusal("InternalException", 500)])(
    "fails the broadcast while the service has a problem: $body.__type",
    async (answer) => {
      const bus = await open(answer);

      expect(await bus.publish(aBroadcast)).toBe(false);
    },
  );

  test("reports it when a retry cannot help", async () => {
    const bus = await open(refusal("AccessDeniedException"));

    await expect(bus.publish(aBroadcast)).rejects.toMatchObject({
      code: "bus/not-taken",
      message: expect.stringContaining("AccessDeniedException"),
    });
  });

  test.each([entryRefused, refusal("ThrottlingException", 429)])(
    "leaves an announcement owed",
    async (answer) => {
      const bus = await open(answer);

      await expect(bus.announce?.(anAnnouncement)).rejects.toMatchObject({
        code: "bus/not-taken",
        retryable: true,
      });
    },
  );
});

const aBroadcast: Broadcast = {
  tenant: "default",
  broadcastId: "b1",
  topic: { kind: "signal", name: "approved" },
  seq: 42,
  at: instantFrom(0),
};

const anAnnouncement: Announcement = {
  id: "order-1:e3.1",
  tenant: "default",
  instanceId: "order-1",
  definition: { id: "order", version: 1 },
  notice: { type: "instance-ended", status: "succeeded", terminationKind: "success" },
};
