// Timers on emulated SQS and EventBridge Scheduler, whose clocks stand still but for what a test
// lets pass. The emulator takes a schedule in the past, which AWS refuses: that is a test with a
// stubbed client, in test/adapters/scheduler.

import { randomUUID } from "node:crypto";
import {
  CreateScheduleGroupCommand,
  DeleteScheduleGroupCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { scheduleName } from "../../lib/adapters/scheduler/schedule.ts";
import { SchedulerTimers } from "../../lib/adapters/scheduler/timers.ts";
import { wheelTimers } from "../../lib/adapters/scheduler/wheel-timers.ts";
import { TimerQueue } from "../../lib/adapters/sqs/timer-queue.ts";
import { WHEEL_AHEAD_MS } from "../../lib/definition/limits.ts";
import { formatInstant, type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import type { Usage } from "../../lib/ports/meter.ts";
import {
  type ArmedStart,
  type ArmedTimer,
  type DisarmedTimer,
  type Timers,
  timerName,
} from "../../lib/ports/timers.ts";
import { type OpenedTimers, timersContract, whoIs } from "../contract/timers.contract.ts";
import { emulated } from "../support/emulator.ts";
import { openStoppedQueue, type StoppedQueue } from "../support/stopped-queue.ts";

const sqs = new SQSClient(emulated());
const client = new SchedulerClient(emulated());
afterAll(() => {
  sqs.destroy();
  client.destroy();
});

const ROADS = { queueMaxSeconds: 900, leadSeconds: 90 };
const ROLE = "arn:aws:iam::000000000000:role/timers";

timersContract("timers by queue and schedule", openScheduled, { runs: 5 });
timersContract("timers by queue and wheel", openWheel, { runs: 5 });

describe("a timer by schedule", () => {
  let opened: Awaited<ReturnType<typeof openScheduled>>;
  beforeEach(async () => {
    opened = await openScheduled();
  });
  afterEach(() => opened.close());

  test("F33 has one schedule, which sends to the queue once and is then gone", async () => {
    const timer = aTimer(opened.now(), 3_600_000);
    await opened.timers.arm(timer);

    const schedule = await client.send(
      new GetScheduleCommand({ Name: scheduleName(timer), GroupName: opened.group }),
    );
    expect(schedule).toMatchObject({
      ScheduleExpression: `at(${formatInstant(instantFrom(timer.dueAt - 90_000)).slice(0, 19)})`,
      ScheduleExpressionTimezone: "UTC",
      ActionAfterCompletion: "DELETE",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: opened.queue.arn,
        RoleArn: ROLE,
        RetryPolicy: { MaximumEventAgeInSeconds: 86_400 },
        DeadLetterConfig: { Arn: opened.queue.arn },
      },
    });
    await opened.pass(3_600_000);
    expect(await schedulesOf(opened.group)).toEqual([]);
  });

  test("that is armed twice has one schedule, and fires once", async () => {
    const timer = aTimer(opened.now(), 3_600_000);
    const woken: string[] = [];
    opened.consume(async (instanceId) => void woken.push(instanceId));
    await opened.timers.arm(timer);
    await opened.timers.arm(timer);

    expect(await schedulesOf(opened.group)).toEqual([scheduleName(timer)]);
    await opened.pass(3_600_000 + 1_000);
    expect(woken).toEqual([timer.instanceId]);
  });

  test("fires for an instance whose id looks like a placeholder of the service", async () => {
    const woken: string[] = [];
    opened.consume(async (instanceId) => void woken.push(instanceId));
    const instanceId = 'a <aws.scheduler.execution-id> "b" \u{1F600}';
    await opened.timers.arm({ ...aTimer(opened.now(), 3_600_000), instanceId });
    await opened.pass(3_600_000 + 1_000);

    expect(woken).toEqual([instanceId]);
  });

  test("is deleted with its schedule when it is disarmed", async () => {
    const timer = aTimer(opened.now(), 3_600_000);
    await opened.timers.arm(timer);
    await opened.timers.disarm(timer);

    expect(await schedulesOf(opened.group)).toEqual([]);
  });

  test("is counted as the invocation that it will be; a queued one as none", async () => {
    await opened.timers.arm(aTimer(opened.now(), 3_600_000));
    await opened.timers.arm({ ...aTimer(opened.now(), 60_000), ticket: "t2.1" });

    expect(opened.used).toEqual([{ of: "scheduler", invocations: 1 }]);
  });
});

async function openScheduled() {
  const opened = await openStoppedQueue(sqs, ["timer", "timer-start"]);
  const { queue, clock } = opened;
  const group = `timers-${randomUUID()}`;
  await client.send(new CreateScheduleGroupCommand({ Name: group }));
  const messages = new TimerQueue({ client: sqs, queueUrl: queue.url });
  const used: Usage[] = [];
  const timers = new SchedulerTimers({
    ...ROADS,
    client,
    clock,
    group,
    roleArn: ROLE,
    queueArn: queue.arn,
    deadLettersArn: queue.arn,
    queue: messages,
    meter: (usage) => used.push(usage),
  });
  return {
    ...withInstances(opened, messages, timers),
    queue,
    group,
    used,
    async close() {
      await client.send(new DeleteScheduleGroupCommand({ Name: group }));
      await opened.close();
    },
  };
}

/** A wheel that turns each minute, over an index that is a map. */
async function openWheel(): Promise<OpenedTimers> {
  const opened = await openStoppedQueue(sqs, ["timer", "timer-start"]);
  const messages = new TimerQueue({ client: sqs, queueUrl: opened.queue.url });
  const timers = wheelTimers({ queue: messages, clock: opened.clock, queueMaxSeconds: 900 });
  const index = new Map<string, Instant>();
  const played = withInstances(opened, messages, timers);

  async function turn(): Promise<void> {
    for (const [who, dueAt] of index) {
      if (dueAt > opened.now() + WHEEL_AHEAD_MS) continue;
      index.delete(who);
      const timer = played.armed.get(who);
      if (timer !== undefined) await timers.arm({ ...timer, dueAt, covered: false });
    }
  }
  return {
    ...played,
    index(who, dueAt) {
      const isFar = dueAt !== undefined && dueAt - opened.now() > ROADS.queueMaxSeconds * 1_000;
      if (isFar) index.set(who, dueAt);
      else index.delete(who);
    },
    async pass(ms) {
      for (let leftMs = ms; leftMs >= 0; leftMs -= TURN_MS) {
        await turn();
        await played.pass(Math.min(leftMs, TURN_MS));
      }
    },
  };
}

const TURN_MS = 60_000;

/**
 * How instances and start events use their timers: they know when they are due, and forget disarmed
 * ones.
 */
function withInstances(
  opened: StoppedQueue<"timer" | "timer-start">,
  queue: TimerQueue,
  timers: Timers,
) {
  const dueAt = new Map<string, Instant>();
  const armed = new Map<string, ArmedTimer | ArmedStart>();
  const played: Timers = {
    async arm(timer) {
      dueAt.set(timerName(timer), timer.dueAt);
      armed.set(whoIs(timer), timer);
      await timers.arm(timer);
    },
    async disarm(timer) {
      dueAt.delete(timerName(timer));
      await timers.disarm(timer);
    },
  };
  return {
    ...opened,
    armed,
    timers: played,
    index: () => {},
    // The queue delays by whole seconds, and so does a schedule.
    latenessMs: 1_000,
    consume(woken: (who: string) => Promise<void>) {
      opened.consume(async (message) => {
        const due = dueAt.get(timerName(message));
        if (due !== undefined && due > opened.now()) {
          await queue.send(message, due - opened.now());
        } else if (dueAt.delete(timerName(message))) await woken(whoIs(message));
        return "release";
      });
    },
  };
}

async function schedulesOf(group: string): Promise<readonly (string | undefined)[]> {
  const { Schedules = [] } = await client.send(new ListSchedulesCommand({ GroupName: group }));
  return Schedules.map(({ Name }) => Name);
}

function aTimer(now: Instant, inMs: number): ArmedTimer & DisarmedTimer {
  const dueAt = instantFrom(now + inMs);
  const names = { tenant: "default", instanceId: "order-1", ticket: "t1.1" };
  return { ...names, dueAt, since: now, covered: true };
}
