import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { markdownTable, type Part, replacePart } from "../../bench/record.ts";

const results = readFileSync(join(import.meta.dirname, "../../bench/RESULTS.md"), "utf8");
const PARTS: readonly Part[] = ["steps", "topics"];

describe("the record of a benchmark", () => {
  test.each(PARTS)("finds its section %s in RESULTS.md, and keeps the rest", (part) => {
    const once = replacePart(results, part, "new");

    expect(once).toContain(`<!-- ${part} -->\n\nnew\n\n<!-- end of ${part} -->`);
    expect(replacePart(once, part, "new")).toBe(once);
    expect(once.startsWith(results.slice(0, results.indexOf(`<!-- ${part} -->`)))).toBe(true);
    expect(once.endsWith(results.slice(results.indexOf(`<!-- end of ${part} -->`)))).toBe(true);
  });

  test("reports which section is missing", () => {
    expect(() => replacePart("nothing", "steps", "")).toThrow("<!-- steps -->");
  });

  test("formats rows as a table", () => {
    const rows = [
      { what: "steps", engine: "1", store: "2", ratio: "0.50" },
      { what: "  p99", engine: "3", store: "", ratio: "" },
    ];

    expect(markdownTable(rows)).toBe(
      "| | engine | bare store | ratio |\n| --- | --- | --- | --- |\n| steps | 1 | 2 | 0.50 |\n| … p99 | 3 |  |  |",
    );
  });
});
