import { expect, test } from "vitest";
import { isoDuration } from "../../lib/workflow/duration-text.ts";

test.each([
  ["30s", "PT30S"],
  ["1 second", "PT1S"],
  ["1.5 minutes", "PT90S"],
  ["1h 30m", "PT5400S"],
  ["1 hour 30 mins", "PT5400S"],
  ["2hrs", "PT7200S"],
  ["3 days", "P3D"],
  ["1 week 2 days", "P9D"],
  ["250 milliseconds", "PT0.25S"],
  ["5 min", "PT300S"],
  ["1d12h", "P1DT43200S"],
  ["p2d", "P2D"],
])("%s is %s", (text, iso) => {
  expect(isoDuration(text, "delay()")).toBe(iso);
});

test.each(["3 dogs", "1 month", "1 minutess", "minutes", "1 s econd", "5", "2 d ays"])(
  "%s is no duration",
  (text) => {
    expect(() => isoDuration(text, "delay()")).toThrow(/is not a duration\. Write a duration/);
  },
);
