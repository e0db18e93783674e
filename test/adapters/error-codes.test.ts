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

  test.each(errorCodes)("says of %s whether it is retryable", (code) => {
    const section = page.split(`## ${code}\n`)[1]?.split("\n## ")[0] ?? "";
    const { retryable } = new EngineError(code, { happened: "It", where: "here", fix: "Wait." });

    const [says] = section.match(/\b(Not r|R)etryable\b/) ?? [];

    expect(says).toBe(retryable ? "Retryable" : "Not retryable");
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

  test("is as retryable as its code, unless its thrower knows better", () => {
    const explained = { happened: "It cannot be read", where: "here", fix: "Try again." };

    const byCode = new EngineError("store/read-failed", explained);
    const byThrower = new EngineError("store/read-failed", { ...explained, retryable: false });

    expect([byCode.retryable, byThrower.retryable]).toEqual([true, false]);
  });
});
