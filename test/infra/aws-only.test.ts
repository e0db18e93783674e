import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const ROOMS = [
  "functions",
  "cdk",
  ...["dynamodb", "sqs", "lambda", "scheduler", "eventbridge", "s3"].map(
    (name) => `lib/adapters/${name}`,
  ),
];

describe("what is deployed to AWS", () => {
  test.each(ROOMS)("has no reference to the AWS emulator: %s", (room) => {
    const files = readdirSync(join(ROOT, room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));

    const telling = files.filter((file) =>
      /ministack|localstack|emulat|\b4566\b|localhost|127\.0\.0\.1/i.test(
        readFileSync(file, "utf8"),
      ),
    );

    expect(files.length).toBeGreaterThan(0);
    expect(telling).toEqual([]);
  });
});
