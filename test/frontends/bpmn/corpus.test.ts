import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compile } from "./compiling.ts";
import { elementsByModdle } from "./moddle.ts";

/** What of the corpus compiled when this was last raised; new elements only add to it. */
const COMPILING = 71;

const folder = process.env.FERMATA_CORPUS;
const files = folder === undefined ? [] : globSync("**/*.bpmn", { cwd: folder }).toSorted();

if (folder !== undefined) {
  describe("a foreign BPMN file", () => {
    for (const name of files) {
      test(`${name} compiles, or is refused with code, line and hint`, async () => {
        const source = readFileSync(join(folder, name), "utf8");

        const answer = await compile(source);

        for (const { code, message, hint, element, line } of answer.diagnostics) {
          expect(code).toMatch(/^bpmn\/[a-z-]+$/);
          expect(message).toMatch(/\.$/);
          expect(hint).toMatch(/\.$/);
          expect(line, `${code} at ${element}`).toBeGreaterThan(0);
        }
        if (!answer.ok) {
          expect(answer.diagnostics.filter(({ severity }) => severity === "error")).not.toEqual([]);
          return;
        }
        expect(answer.processes.map(({ elements }) => elements)).toEqual(
          await elementsByModdle(source),
        );
      });
    }

    test(`is one of at least ${COMPILING} that compile`, async () => {
      const answers = await Promise.all(
        files.map((name) => compile(readFileSync(join(folder, name), "utf8"))),
      );

      expect(answers.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(COMPILING);
    });
  });
}

describe("the parser of the modelers", () => {
  test.each(["order", "parcel"])(
    "finds the same elements of %s in the same order",
    async (name) => {
      const place = new URL(`../../fixtures/bpmn/${name}.bpmn`, import.meta.url);
      const source = readFileSync(place, "utf8");
      const answer = await compile(source);

      expect(answer.ok && answer.processes.map(({ elements }) => elements)).toEqual(
        await elementsByModdle(source),
      );
    },
  );
});
