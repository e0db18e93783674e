import { describe, expect, test } from "vitest";
import { scheduleName, scheduleOf } from "../../../lib/adapters/scheduler/schedule.ts";
import { parseText, traceparentIn } from "../../../lib/adapters/sqs/wire.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";

const dueAt = instantFrom(Date.UTC(2030, 0, 1, 12));
const timer = { tenant: "default", instanceId: "order-1", ticket: "t1.1", dueAt, covered: true };
const start = {
  tenant: "default",
  definitionId: "report",
  hash: "h",
  element: "nightly",
  run: 3,
  n: 2,
  dueAt,
  covered: true,
};
const target = { group: "g", roleArn: "r", queueArn: "q", deadLettersArn: "d" };

describe("the name of a schedule", () => {
  test("is the same for the same timer, and short enough", () => {
    expect(scheduleName(timer)).toMatch(/^t-[a-z2-7]{40}$/);
    expect(scheduleName({ ...timer })).toBe(scheduleName(timer));
  });

  test("differs by tenant, instance and ticket, wherever the text is split", () => {
    const others = [
      timer,
      { ...timer, tenant: "other" },
      { ...timer, instanceId: "order-2" },
      { ...timer, ticket: "t2.1" },
      { ...timer, tenant: "defaulto", instanceId: "rder-1" },
    ];

    expect(new Set(others.map(scheduleName)).size).toBe(others.length);
  });
});

describe("the schedule of a start event", () => {
  test("has a name for each occurrence, and carries its message", () => {
    const others = [start, { ...start, n: 3 }, { ...start, run: 32, n: 2 }, timer];
    const Input = scheduleOf(start, dueAt, target).Target?.Input ?? "";
    const { dueAt: _, covered, ...occurrence } = start;

    expect(new Set(others.map(scheduleName)).size).toBe(others.length);
    expect(scheduleName({ ...start })).toBe(scheduleName(start));
    expect(parseText(Input)).toEqual({ kind: "timer-start", ...occurrence });
  });
});

describe("a schedule", () => {
  test("is written in UTC, to the second", () => {
    const { ScheduleExpression } = scheduleOf(timer, dueAt, target);

    expect(ScheduleExpression).toBe("at(2030-01-01T12:00:00)");
  });

  test("carries the timer's message, and no placeholder of the service", () => {
    const instanceId = "<aws.scheduler.scheduled-time>";
    const Input = scheduleOf({ ...timer, instanceId }, dueAt, target).Target?.Input ?? "";

    expect(Input).not.toContain("<");
    expect(parseText(Input)).toEqual({
      kind: "timer",
      tenant: "default",
      instanceId,
      ticket: "t1.1",
    });
  });

  test("carries the trace that armed the timer, if there is one", () => {
    const [without, within] = [undefined, "00-a-b-01"].map(
      (trace) => scheduleOf(timer, dueAt, target, trace).Target?.Input ?? "",
    );

    expect(without).not.toContain("traceparent");
    expect(traceparentIn(within ?? "")).toBe("00-a-b-01");
  });
});
