import { describe, expect, test } from "vitest";
import { VARIABLES } from "../../functions/settings.ts";
import {
  KEPT_DAYS,
  MEMORY_MB,
  SCHEDULE_LEAD_MS,
  TIMER_QUEUE_MAX_MS,
} from "../../lib/cost/assumptions.ts";
import { synthesised } from "./support/synthesised.ts";

describe("the assumptions of the cost estimate", () => {
  const installation = synthesised({ alarms: "off" });
  const paths = {
    "http-api": "HttpApi",
    "run-task": "RunTask",
    advance: "Advance",
    "fire-timer": "FireTimer",
    "run-work": "FanOutSignal",
  } as const satisfies Record<keyof typeof MEMORY_MB, string>;

  test.each(Object.entries(paths))("include the memory that %s is deployed with", (name, path) => {
    const { props } = fn(path);

    expect(Object.entries(MEMORY_MB)).toContainEqual([name, props.MemorySize]);
    expect(props.Architectures).toEqual(["arm64"]);
  });

  test("include the timer settings and the retention that are deployed", () => {
    const { Variables: variables } = fn("RunTask").props.Environment;

    expect(Number(variables[VARIABLES.timerQueueMaxSeconds]) * 1_000).toBe(TIMER_QUEUE_MAX_MS);
    expect(Number(variables[VARIABLES.scheduleLeadSeconds]) * 1_000).toBe(SCHEDULE_LEAD_MS);
    expect(Number(variables[VARIABLES.retentionMs])).toBe(KEPT_DAYS * 86_400_000);
  });

  /** The function of a role, by its place in the construct tree. */
  function fn(role: string) {
    const [found] = installation
      .of("AWS::Lambda::Function")
      .filter(({ path }) => path.includes(`/${role}/`));
    if (found === undefined) throw new Error(`There is no function ${role}.`);
    return found;
  }
});
