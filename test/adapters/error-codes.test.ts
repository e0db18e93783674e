import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EngineError, errorCodes } from "../../lib/ports/engine-error.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/errors.md"), "utf8");
const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);

describe("docs/reference/errors.md", () => {
  test.each(errorCodes)("has a heading for %s", (code) => {
    expect(headings).toContain(code);
  });

  test("has no heading for a code that is never raised", () => {
    const known: readonly string[] = errorCodes;
    expect(headings.filter((heading = "") => !known.includes(heading))).toEqual([]);
  });
});

describe("an EngineError", () => {
  test("says what happened, where, how to fix it, and its code", () => {
    const cause = new Error("ENOSPC");
    const error = new EngineError("store/disk-full", {
      happened: "There is no room",
      where: "data folder /data",
      fix: "Free some space.",
      retryable: true,
      cause,
    });

    expect(error.message).toBe(
      "There is no room (data folder /data). Free some space. [store/disk-full]",
    );
    expect(error).toMatchObject({
      name: "EngineError",
      code: "store/disk-full",
      retryable: true,
      cause,
    });
  });
});
