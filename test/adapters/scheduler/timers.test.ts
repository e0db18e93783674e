import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterEach, describe, expect, test } from "vitest";
import { SchedulerTimers } from "../../../lib/adapters/scheduler/timers.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { TimerMessage, TimerStartMessage } from "../../../lib/ports/message.ts";
import {
  type Canned,
  type CannedService,
  cannedService,
  refusal,
} from "../../support/canned-service.ts";

const now = instantFrom(Date.UTC(2030, 0, 1));
const HOUR_MS = 3_600_000;
/** The schedule's own instant is earlier by the lead. */
const NEAR_MS = 90_000 + 119_000;

describe("timers by schedule", () => {
  let service: CannedService;
  let queued: Readonly<{ message: TimerMessage | TimerStartMessage; afterMs: number }>[];
  afterEach(() => service.close());

  async function open(answer: Canned = {}, { queueMaxSeconds = 900 } = {}) {
    service = await cannedService(answer);
    queued = [];
    return new SchedulerTimers({
      client: new SchedulerClient(service.settings),
      group: "timers",
      roleArn: "arn:aws:iam::000000000000:role/timers",
      queueArn: "arn:aws:sqs:us-east-1:000000000000:timers",
      deadLettersArn: "arn:aws:sqs:us-east-1:000000000000:dead",
      queue: { send: async (message, afterMs) => void queued.push({ message, afterMs }) },
      clock: { now: () => now },
      queueMaxSeconds,
      leadSeconds: 90,
    });
  }

  test("go to the queue when the service considers their instant past", async () => {
    const timers = await open(refusal("ValidationException"), { queueMaxSeconds: 60 });
    await timers.arm(aTimer(NEAR_MS));

    const message = { kind: "timer", tenant: "default", instanceId: "order-1", ticket: "t1.1" };
    expect(queued).toEqual([{ message, afterMs: NEAR_MS }]);
  });

  test("count as armed when they already are", async () => {
    const timers = await open(refusal("ConflictException", 409));
    await timers.arm(aTimer(HOUR_MS));

    expect(queued).toEqual([]);
  });

  test.each([
    "ThrottlingException",
    "ServiceQuotaExceededException",
    "AccessDeniedException",
    // An instant that is clearly not past: the service refuses the request for another reason.
    "ValidationException",
  ])("fail when the service refuses them: %s", async (type) => {
    const timers = await open(refusal(type, 429));

    await expect(timers.arm(aTimer(HOUR_MS))).rejects.toMatchObject({
      code: "timers/not-armed",
      retryable: true,
      message: expect.stringContaining(type),
    });
    expect(queued).toEqual([]);
  });

  test("ignore a failure to disarm", async () => {
    const timers = await open(refusal("ThrottlingException", 429));

    await expect(timers.disarm(aTimer(HOUR_MS))).resolves.toBeUndefined();
    expect(service.asked).toHaveLength(1);
  });

  test("call nothing when there is no schedule to delete", async () => {
    const timers = await open();
    await timers.disarm(aTimer(900_000));
    await timers.disarm({ ...aTimer(90_000), since: instantFrom(now - HOUR_MS) });

    expect(service.asked).toEqual([]);
  });

  test("delete a schedule up to its last second", async () => {
    const timers = await open({});
    await timers.disarm({ ...aTimer(90_001), since: instantFrom(now - HOUR_MS) });

    expect(service.asked).toHaveLength(1);
  });
});

function aTimer(inMs: number) {
  const names = { tenant: "default", instanceId: "order-1", ticket: "t1.1" };
  return { ...names, dueAt: instantFrom(now + inMs), since: now, covered: true };
}
