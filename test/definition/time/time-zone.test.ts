import { describe, expect, test } from "vitest";
import { isTimeZone, parseTimeZone } from "../../../lib/definition/time/time-zone.ts";

describe("a time zone", () => {
  test.each(["UTC", "Etc/UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+2"])(
    "may be called %s",
    (name) => {
      expect(isTimeZone(name)).toBe(true);
      expect(parseTimeZone(name)).toEqual({ ok: true, value: name });
    },
  );

  test.each([
    ["Mars/Phobos", "IANA"],
    ["europe/berlin", "Write Europe/Berlin."],
    ["utc", "Write UTC."],
    ["+02:00", "IANA"],
    ["Z", "IANA"],
    ["", "IANA"],
    [" UTC", "IANA"],
    ["2024-01-01T00:00Z[UTC]", "IANA"],
    ["A".repeat(65), "IANA"],
  ])("is not called %j, and the hint says %j", (name, hint) => {
    expect(isTimeZone(name)).toBe(false);
    expect(parseTimeZone(name)).toMatchObject({ ok: false, hint: expect.stringContaining(hint) });
  });
});
