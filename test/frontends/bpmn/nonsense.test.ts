import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJson } from "../../../lib/definition/json.ts";
import { BPMN_CODES } from "../../../lib/frontends/bpmn/codes.ts";
import { compile } from "./compiling.ts";

const folder = new URL("../../fixtures/bpmn/", import.meta.url);
const fixtures = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith(".bpmn"))
    .map((name) => [name, readFileSync(new URL(name, folder), "utf8")]),
);
/** A file by its name, so that a counterexample stays readable. */
const fixture = fc.constantFrom(...fixtures.keys());
const textOf = (name: string) => fixtures.get(name) ?? "";

/** A place in a text and a number of characters, both as fractions, so that they shrink. */
const span = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 400 }));
const pieces = fc.constantFrom(
  "<",
  ">",
  "/>",
  "&",
  '"',
  "<!--",
  "<![CDATA[",
  "<!DOCTYPE a>",
  "=",
  "\u0000",
  "\uD800",
  'id="order"',
  "<bpmn:subProcess>",
  "</bpmn:process>",
  "<bpmn:sequenceFlow/>",
  "<zeebe:ioMapping/>",
  'xmlns:bpmn="http://example.com"',
);

const damage = fc.oneof(
  fc.record({ how: fc.constant("delete" as const), span }),
  fc.record({ how: fc.constant("truncate" as const), span }),
  fc.record({ how: fc.constant("repeat" as const), span }),
  fc.record({ how: fc.constant("swap" as const), span, other: span }),
  fc.record({ how: fc.constant("insert" as const), span, piece: fc.oneof(pieces, fc.string()) }),
  fc.record({ how: fc.constant("drop-line" as const), span }),
  fc.record({ how: fc.constant("swap-values" as const), span, other: span }),
);

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(text: string, harm: Damage): string {
  const at = Math.floor(harm.span[0] * text.length);
  const to = Math.min(text.length, at + harm.span[1]);
  switch (harm.how) {
    case "delete":
      return text.slice(0, at) + text.slice(to);
    case "truncate":
      return text.slice(0, at);
    case "repeat":
      return text.slice(0, to) + text.slice(at);
    case "swap": {
      const other = Math.floor(harm.other[0] * text.length);
      const [first, second] = at < other ? [at, other] : [other, at];
      return text.slice(0, first) + text.slice(second) + text.slice(first, second);
    }
    case "insert":
      return text.slice(0, at) + harm.piece + text.slice(at);
    case "drop-line":
      return linesWithout(text, harm.span[0]);
    case "swap-values":
      return valuesSwapped(text, harm.span[0], harm.other[0]);
  }
}

function linesWithout(text: string, place: number): string {
  const lines = text.split("\n");
  lines.splice(Math.floor(place * lines.length), 1);
  return lines.join("\n");
}

/** Exchanges two attribute values: well-formed, and wrong in ways that need no luck. */
function valuesSwapped(text: string, one: number, other: number): string {
  const values = [...text.matchAll(/"([^"]*)"/g)].map(([, value = ""]) => value);
  if (values.length === 0) return text;
  const pick = (place: number) => Math.min(values.length - 1, Math.floor(place * values.length));
  const swapped = values.with(pick(one), values[pick(other)] ?? "");
  let next = 0;
  return text.replace(/"[^"]*"/g, () => `"${swapped[next++] ?? ""}"`);
}

/** What every answer must be, whatever was asked. */
async function expectAnswer(source: string): Promise<boolean> {
  const answer = await compile(source);
  expect(isJson(answer.diagnostics)).toBe(true);
  for (const { code, message, hint, severity, element, line } of answer.diagnostics) {
    expect(BPMN_CODES).toContain(code);
    expect(message.length).toBeGreaterThan(10);
    expect(hint.length).toBeGreaterThan(10);
    if (element !== undefined) expect(line).toBeGreaterThan(0);
    if (severity === "error") expect(answer.ok).toBe(false);
  }
  if (!answer.ok) expect(answer.diagnostics.map((one) => one.severity)).toContain("error");
  if (answer.ok) expect(isJson(answer.processes)).toBe(true);
  return answer.ok;
}

describe("the BPMN compiler given invalid input", () => {
  test("returns diagnostics or processes for damaged files, and never throws", async () => {
    const outcomes = new Set<boolean>();
    await fc.assert(
      fc.asyncProperty(
        fixture,
        fc.array(damage, { minLength: 1, maxLength: 4 }),
        async (name, harms) => {
          outcomes.add(await expectAnswer(harms.reduce(damaged, textOf(name))));
        },
      ),
      { numRuns: 300 },
    );

    expect(outcomes).toEqual(new Set([true, false]));
  });

  test("returns a result for well-formed files with wrong values, and never throws", async () => {
    const wrong = fc.record({ how: fc.constant("swap-values" as const), span, other: span });
    await fc.assert(
      fc.asyncProperty(
        fixture,
        fc.array(wrong, { minLength: 1, maxLength: 6 }),
        async (name, harms) => {
          await expectAnswer(harms.reduce(damaged, textOf(name)));
        },
      ),
      { numRuns: 150 },
    );
  });

  test("returns a result for any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        expect(await expectAnswer(text)).toBe(false);
      }),
    );
  });

  test("returns the same result for the same text", async () => {
    await fc.assert(
      fc.asyncProperty(fixture, damage, async (name, harm) => {
        const source = damaged(textOf(name), harm);
        expect(await compile(source)).toEqual(await compile(source));
      }),
      { numRuns: 50 },
    );
  });
});
