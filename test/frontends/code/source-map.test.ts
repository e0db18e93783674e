import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSourceMap } from "../../../lib/frontends/code/source-map.ts";

const withMap = (map: unknown) => {
  const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
  return `a();\nb();\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
};

describe("the source map of a bundle", () => {
  test("leads to the place that the last segment before a column names", () => {
    const map = parseSourceMap(
      withMap({ version: 3, sources: ["ä.ts", "b.ts"], mappings: "AAEA,IAAI;ACDJ,GAAG,EACA" }),
    );

    expect(map.originalOf(1, 1)).toEqual({ file: "ä.ts", line: 3, column: 1 });
    expect(map.originalOf(1, 4)).toEqual({ file: "ä.ts", line: 3, column: 1 });
    expect(map.originalOf(1, 5)).toEqual({ file: "ä.ts", line: 3, column: 5 });
    expect(map.originalOf(2, 1)).toEqual({ file: "b.ts", line: 2, column: 1 });
    expect(map.originalOf(3, 1)).toBeUndefined();
    expect(map.originalOf(Number.NaN, Number.NaN)).toBeUndefined();
  });

  test.each([
    ["there is none", "a();"],
    ["it is not base 64", "//# sourceMappingURL=data:application/json;base64,%%%"],
    ["it is not JSON", `//# sourceMappingURL=data:application/json;base64,${btoa("{")}`],
    ["it is not inline", "//# sourceMappingURL=bundle.js.map"],
    ["it has no comma", "//# sourceMappingURL=data:application/json;base64"],
    ["it has another version", withMap({ version: 2, sources: [], mappings: "AAAA" })],
    ["it is null", withMap(null)],
    ["its sources are no list", withMap({ version: 3, sources: "a", mappings: "AAAA" })],
    ["a source is no text", withMap({ version: 3, sources: [null], mappings: "AAAA" })],
    ["it names a source that it has not", withMap({ version: 3, sources: [], mappings: "AAAA" })],
    ["it names negative places", withMap({ version: 3, sources: ["a"], mappings: "AAAD" })],
    ["its mappings have other letters", withMap({ version: 3, sources: ["a"], mappings: "A!AA" })],
    ["its numbers never end", withMap({ version: 3, sources: ["a"], mappings: "gggggggggggggA" })],
  ])("knows no place where %s", (_why, bundle) => {
    expect(parseSourceMap(bundle).originalOf(1, 1)).toBeUndefined();
  });

  test("never throws", () => {
    const letters = fc.string({ unit: fc.constantFrom(..."ABCDgZ+/;,!9") });
    fc.assert(
      fc.property(letters, fc.integer(), fc.integer(), (mappings, line, column) => {
        parseSourceMap(withMap({ version: 3, sources: ["a"], mappings })).originalOf(line, column);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        parseSourceMap(`//# sourceMappingURL=data:application/json${text}`).originalOf(1, 1);
      }),
    );
  });
});
