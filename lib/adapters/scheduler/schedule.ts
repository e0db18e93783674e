import { createHash } from "node:crypto";
import type { CreateScheduleCommandInput } from "@aws-sdk/client-scheduler";
import { formatInstant, type Instant } from "../../definition/time/instant.ts";
import { messageText } from "../../ports/message-text.ts";
import { type ArmedStart, type ArmedTimer, timerMessage, timerName } from "../../ports/timers.ts";

/** The group of the schedules, and their target: the timer queue, with this role. */
export type ScheduleTarget = Readonly<{
  group: string;
  roleArn: string;
  queueArn: string;
  deadLettersArn: string;
}>;

/** A schedule that sends a timer to the queue once, and is then deleted. */
export function scheduleOf(
  timer: ArmedTimer | ArmedStart,
  at: Instant,
  { group, roleArn, queueArn, deadLettersArn }: ScheduleTarget,
  traceparent?: string,
): CreateScheduleCommandInput {
  return {
    Name: scheduleName(timer),
    GroupName: group,
    ScheduleExpression: `at(${formatInstant(at).slice(0, 19)})`,
    ScheduleExpressionTimezone: "UTC",
    FlexibleTimeWindow: { Mode: "OFF" },
    ActionAfterCompletion: "DELETE",
    Target: {
      Arn: queueArn,
      RoleArn: roleArn,
      Input: inputOf(timer, traceparent),
      RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
      DeadLetterConfig: { Arn: deadLettersArn },
    },
  };
}

/** The same for the same timer: arming twice is idempotent. */
export function scheduleName(timer: Parameters<typeof timerName>[0]): string {
  const digest = createHash("sha256").update(timerName(timer)).digest();
  return `t-${base32(digest).slice(0, 40)}`;
}

/** The service replaces words such as `<aws.scheduler.execution-id>`, which an id may contain. */
function inputOf(timer: ArmedTimer | ArmedStart, traceparent: string | undefined): string {
  return messageText(timerMessage(timer), traceparent).replaceAll("<", "\\u003c");
}

function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join("");
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
