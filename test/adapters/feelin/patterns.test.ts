import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_PATTERN_LENGTH } from "../../../lib/adapters/feelin/limits.ts";
import { toLinear } from "../../../lib/adapters/feelin/linear-pattern.ts";
import { fullBudget, lookupIn } from "../../../lib/definition/expression.ts";
import type { Variables } from "../../../lib/definition/json.ts";
import { evaluated, feel, feelValue, given, problemOf } from "./feel-evaluator.ts";

describe("a pattern that would backtrack endlessly in JavaScript", () => {
  const text = `${"a".repeat(60)}!`;

  test.each([
    "(a|aa)+$",
    "^(a|a)+$",
    "^(a+)+$",
    "^(a*)*$",
    "(a|a|b)*c",
    "(?:a?){60}b",
    "^(\\w+\\s?)+$",
    "(?<=(?:a|aa)+)b$",
  ])("is matched at once: %s", (p) => {
    expect(feelValue("matches(text, p)", { text, p })).toBe(false);
    expect(feelValue("extract(text, p)", { text, p })).toEqual([]);
    expect(feelValue("split(text, p)", { text, p })).toEqual([text]);
    expect(feelValue('replace(text, p, "x")', { text, p })).toBe(text);
  });

  test("is stopped by the watchdog when it has a lookahead or a back-reference", () => {
    for (const p of ["^(a|aa)+$(?=b)", "^(a|aa)+\\1$", "^(a|aa)+(?!.)b"]) {
      expect(problemOf("matches(text, p)", { text, p })).toContain("take too long to match");
    }
  });

  test("does not spend its time again in the next evaluation of the same budget", () => {
    const budget = fullBudget();
    const variables = { text, p: "^(a|aa)+$(?=b)" };
    const tried = Array.from({ length: 20 }, () => {
      const left = budget.patternMs;
      const { ok } = feel.evaluate("matches(text, p)", lookupIn(variables), { ...given, budget });
      return { ok, mayRun: left > 0 };
    });

    expect(tried.filter(({ ok }) => ok)).toEqual([]);
    expect(tried.filter(({ mayRun }) => mayRun)).toHaveLength(1);
  });
});

describe("a pattern", () => {
  test("may have lookaheads and back-references", () => {
    expect(feelValue('matches("price: 12", "price(?=: [0-9])")')).toBe(true);
    expect(feelValue('replace("aabbc", "(.)\\1", "<$1>")')).toBe("<a><b>c");
    expect(feelValue('extract("a1b2", "(?<=b)[0-9]")')).toEqual(["2"]);
  });

  test("has the flags s, m and i; others give null, and x is refused", () => {
    expect(feelValue('matches("a\nB", "^b", "mi")')).toBe(true);
    expect(feelValue('matches("a\nb", "a.b", "s")')).toBe(true);
    expect(feelValue('matches("a", "a", "q")')).toBe(null);
    expect(problemOf('matches("a", "a", "x")')).toContain("flag x");
  });

  test("that is invalid gives null, and the warning says so", () => {
    const warningsOf = (text: string) => {
      const result = feel.evaluate(text, lookupIn({}), given);
      return result.ok ? { value: result.value, warnings: result.warnings } : result;
    };

    expect(warningsOf('matches("a", "[")')).toEqual({
      value: null,
      warnings: ['the pattern "[" is not a valid regular expression'],
    });
    expect(warningsOf('replace("a", "a", "b", "q")')).toEqual({
      value: null,
      warnings: ['the flags "q" are not s, m or i'],
    });
  });

  test("has a limited length", () => {
    expect(feelValue("matches(p, p)", { p: "a".repeat(MAX_PATTERN_LENGTH) })).toBe(true);
    expect(problemOf("matches(p, p)", { p: "a".repeat(MAX_PATTERN_LENGTH + 1) })).toContain(
      "a pattern is longer",
    );
  });

  test("that is costly on long text is charged in steps", () => {
    const variables = { text: "ab".repeat(200_000), p: "([ab]*a[ab]{200}[cd])+" };

    expect(problemOf("matches(text, p)", variables)).toContain("steps");
  });

  test("that searches the whole rest of the text for each match is stopped by the clock", () => {
    const variables = { text: "b".repeat(100_000), p: "b(.*)[yz]|b" };

    expect(problemOf("count(extract(text, p))", variables)).toContain("take too long to match");
  });

  test("cannot inflate the text that it replaces", () => {
    const variables = { text: "x".repeat(20_000), around: "$`$'" };

    expect(problemOf('replace(text, "x", around)', variables)).toContain("builds a string");
  });

  test("agrees with JavaScript on words where it has lines, too", () => {
    const variables = { text: "\u017f", p: "[^\\s]\\B" };

    expect(feelValue('matches(text, p, "mi")', variables)).toBe(false);
  });

  test("with nested counts of more than 1,000 in all is run by JavaScript", () => {
    expect(feelValue('matches(text, "^(a{30}){40}$")', { text: "a".repeat(1_200) })).toBe(true);
  });

  test("without an equivalent in RE2 is run by JavaScript", () => {
    for (const p of ["(?=a)", "(?!a)", "(a)\\1", "(?<n>a)\\k<n>", "(?i:a)b?", "[\\ud800]?"]) {
      expect(toLinear(p, ""), p).toBeUndefined();
    }
    expect(toLinear("\\p{L}+", "")).toBe("\\p{L}+");
    expect(toLinear("\\p{L}+", "i")).toBeUndefined();
  });
});

describe("patterns agree with JavaScript", () => {
  const runs = { numRuns: 300 };

  test("on whether they are found", () => {
    fc.assert(
      fc.property(anyPattern({ isLoose: true }), texts, flagSets, (p, text, flags) => {
        fc.pre(isCommon(p, text));
        const expected = tryTo(() => new RegExp(p, `u${flags}`).test(text));
        expect(outcomeOf("matches(text, p, flags)", { text, p, flags })).toEqual(expected);
      }),
      runs,
    );
  });

  test("on what they extract", () => {
    fc.assert(
      fc.property(anyPattern({ isLoose: false }), texts, (p, text) => {
        fc.pre(isCommon(p, text));
        const expected = tryTo(() => text.match(new RegExp(p, "gu")) ?? []);
        expect(outcomeOf("extract(text, p)", { text, p })).toEqual(expected);
      }),
      runs,
    );
  });

  test("on where they split", () => {
    fc.assert(
      fc.property(anyPattern({ isLoose: false }), texts, (p, text) => {
        fc.pre(isCommon(p, text));
        const expected = tryTo(() => text.split(new RegExp(p, "u")).map((part) => part ?? null));
        expect(outcomeOf("split(text, p)", { text, p })).toEqual(expected);
      }),
      runs,
    );
  });

  test("on what they replace", () => {
    const replacements = fc
      .array(
        fc.constantFrom("$1", "$2", "$12", "$&", "$`", "$'", "$$", "$<n>", "$<", "$", "x", "0"),
      )
      .map((parts) => parts.join(""))
      // FEEL's own sign for the whole match, which JavaScript does not have.
      .filter((replacement) => !replacement.includes("$0"));
    fc.assert(
      fc.property(
        anyPattern({ isLoose: false }),
        texts,
        replacements,
        flagSets,
        (p, text, by, flags) => {
          fc.pre(isCommon(p, text));
          const expected = tryTo(() => text.replace(new RegExp(p, `gu${flags}`), by));
          expect(outcomeOf("replace(text, p, by, flags)", { text, p, by, flags })).toEqual(
            expected,
          );
        },
      ),
      runs,
    );
  });
});

/**
 * Where a pattern is empty, V8 looks into the middle of a character that has two halves, though the
 * language steps over it: it finds `\B` in "a😀a".
 */
const isCommon = (p: string, text: string) => !/\\B|\(\?<[=!]/.test(p) || !/[\ud83d]/.test(text);

/** Few letters, so that something is found, and those on which engines like to disagree. */
const SIGNS = [
  "a",
  "b",
  "A",
  "1",
  "_",
  "-",
  " ",
  "\n",
  "\r",
  "\u2028",
  "\u00a0",
  "\ufeff",
  "ſ",
  "K",
  "é",
  "ß",
  "😀",
  "\ud83d",
  "]",
  "^",
  ".",
  "\t",
];
const texts = fc.array(fc.constantFrom(...SIGNS), { maxLength: 12 }).map((signs) => signs.join(""));
const flagSets = fc.subarray(["s", "m", "i"]).map((flags) => flags.join(""));

/**
 * Patterns without nested repetitions, so that JavaScript is quick. Loose ones may repeat what can
 * be empty, and groups; there RE2 finds at the same places, but may take another length, as Java does.
 */
function anyPattern({ isLoose }: Readonly<{ isLoose: boolean }>): fc.Arbitrary<string> {
  const single = fc.constantFrom(
    ..."a b A 1 _ é ß 😀 - . \\d \\D \\w \\W \\s \\S \\. \\- \\] \\^ \\/ \\n \\t \\x41 \\u0041 \\u{1F600} \\ud83d\\ude00 \\cJ \\0 \\p{L} \\P{Lu} \\p{Script=Greek} \\p{Letter}"
      .split(" ")
      .filter((text) => text !== "\\-"),
    "[ab]",
    "[^a]",
    "[a-c]",
    "[^\\s]",
    "[\\S]",
    "[\\w-]",
    "[-a]",
    "[a-]",
    "[\\b]",
    "[^]",
    "[]",
    "[\\]a]",
    "[a^]",
    "[\\d\\s]",
    "[\\u0041-C]",
    "[.]",
    "[[:a]",
    "[^\\W]",
    "[\\-a]",
    "[😀a]",
    "[\\p{L}1]",
    " ",
  );
  const anchor = fc.constantFrom("^", "$", "\\b", "\\B", "(?<=a)", "(?<!b)", "(?=a)", "(?!a)");
  const repeat = fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?", "??");
  const repeated = fc.tuple(single, repeat).map(([part, sign]) => part + sign);
  const atoms = fc.oneof({ weight: 4, arbitrary: single }, repeated, anchor);
  const sequence = fc.array(atoms, { maxLength: 4 }).map((parts) => parts.join(""));
  const group = fc
    .tuple(fc.constantFrom("(", "(?:"), sequence, sequence)
    .map(([open, a, b]) => `${open}${a}|${b})`);
  const plain = fc.tuple(single, single).map(([a, b]) => `(?:${a}|${b}${a})`);
  const looped = fc.tuple(isLoose ? group : plain, repeat).map(([part, sign]) => part + sign);
  const named = sequence.map((part) => `(?<n>${part})`);
  return fc
    .tuple(
      fc.array(fc.oneof(sequence, group, looped), { maxLength: 3 }),
      fc.option(named, { nil: "" }),
    )
    .map(([parts, last]) => parts.join("") + last);
}

function tryTo<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function outcomeOf(text: string, variables: Variables) {
  const evaluation = evaluated(text, variables);
  return evaluation.ok ? evaluation.value : evaluation.problem;
}
