import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

/** What only one machine or one workplace has; a clone elsewhere would find nothing there. */
const FOREIGN: Readonly<Record<string, RegExp>> = {
  "a path of one machine": /(?<![\w./~-])\/(work|root|home|Users)\/\w/,
  "a folder beside the checkout": /(?<![\w./-])\.\.\/shared\b|\bshared\/(design|peer-bench|seeds)/,
  "a design page that is not in this repository":
    /(?<![\w/-])(design|protocol|style|acceptance)\.md\b/,
  "the host of a package registry":
    /registry\.(npmjs|yarnpkg)\.|deb\.debian\.org|files\.pythonhosted/,
};

describe("the repository", () => {
  const house = resolve(import.meta.dirname, "../..");
  const self = "test/house/self-contained.test.ts";
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: house,
    encoding: "utf8",
  })
    .split("\n")
    // CI looks for the corpus beside the checkout and does without it.
    .filter((file) => file !== "" && file !== self && file !== ".ci/run")
    .filter((file) => existsSync(join(house, file)));

  for (const [what, pattern] of Object.entries(FOREIGN)) {
    test(`names ${what} nowhere`, () => {
      const places = files.flatMap((file) =>
        readFileSync(join(house, file), "utf8")
          .split("\n")
          .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line}`] : [])),
      );

      expect(files).toContain("package.json");
      expect(places).toEqual([]);
    });

    test(`would be caught naming ${what}`, () => {
      const caught: Readonly<Record<string, string>> = {
        "a path of one machine": "see `/home/ann/fermata`",
        "a folder beside the checkout": "see ../shared/notes",
        "a design page that is not in this repository": "see protocol.md §3",
        "the host of a package registry": "https://registry.npmjs.org/zod",
      };

      expect(caught[what]).toMatch(pattern);
    });
  }

  test("locks its packages without naming where they came from", () => {
    expect(readFileSync(join(house, "package-lock.json"), "utf8")).not.toContain('"resolved"');
  });
});
