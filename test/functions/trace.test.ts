import { describe, expect, test } from "vitest";
import {
  currentTrace,
  formatTraceparent,
  inTrace,
  parseTraceparent,
} from "../../functions/middleware/trace.ts";

describe("a trace", () => {
  test("continues that of the caller, as a new span", () => {
    const parent = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;
    const trace = inTrace(parent, currentTrace);

    expect(trace).toMatchObject({ traceId: "a".repeat(32), flags: "00" });
    expect(trace?.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(trace?.spanId).not.toBe("b".repeat(16));
    expect(parseTraceparent(trace && formatTraceparent(trace))).toEqual(trace);
  });

  test.each([
    ["nothing", undefined],
    ["nonsense", "hello"],
    ["a trace of zeros", `00-${"0".repeat(32)}-${"b".repeat(16)}-01`],
    ["a version that cannot be", `ff-${"a".repeat(32)}-${"b".repeat(16)}-01`],
  ])("starts anew after %s", (_, parent) => {
    expect(inTrace(parent, currentTrace)?.traceId).toMatch(/^(?!0+$)(?!a+$)[0-9a-f]{32}$/);
  });
});
