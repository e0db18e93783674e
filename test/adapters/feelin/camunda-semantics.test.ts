import { describe, expect, test } from "vitest";
import type { Json, Variables } from "../../../lib/definition/json.ts";
import { evaluated, feel, feelValue, problemOf } from "./feel-evaluator.ts";

type Row = readonly [text: string, value: Json, variables?: Variables];

const people = {
  people: [
    { name: "Ada", age: 36, active: true },
    { name: "Bob", age: 12, active: false },
  ],
};

function table(rows: readonly Row[]) {
  for (const [text, value, variables = {}] of rows) {
    const known = Object.keys(variables).length === 0 ? "" : ` given ${JSON.stringify(variables)}`;
    test(`${text} is ${JSON.stringify(value)}${known}`, () => {
      expect(feelValue(text, variables)).toEqual(value);
    });
  }
}

describe("FEEL names", () => {
  table([
    ["`total` + 1", 3, { total: 2 }],
    ["`a b`.`c d`", 7, { "a b": { "c d": 7 } }],
    ["a-b", 2, { a: 5, b: 3 }],
    ["count", 3, { count: 3 }],
    ["count(count)", 2, { count: [1, 2] }],
    ["date", "x", { date: "x" }],
    ["{first name: 1}.first name", 1],
    ["null", null],
  ]);

  test("that are missing give null, and a warning that says which", () => {
    expect(evaluated("total > 100")).toEqual({
      ok: true,
      value: null,
      warnings: ["no variable named total", "cannot compare null with number"],
    });
  });

  test("do not reach into the prototype of a value", () => {
    expect(feelValue("constructor")).toBe(null);
    expect(feelValue("a.constructor", { a: {} })).toBe(null);
    expect(feelValue("a.__proto__", { a: {} })).toBe(null);
    expect(feelValue("a.length", { a: "text" })).toBe(null);
  });
});

describe("a FEEL condition", () => {
  table([
    ["if 0 then 1 else 2", 2],
    ['if "" then 1 else 2', 2],
    ["if {} then 1 else 2", 2],
    ["if null then 1 else 2", 2],
    ["if true then 1 else 2", 1],
    ["null = true", false],
    ["missing = true", false],
    ["null = null", true],
    ["null != 1", true],
    ['"10" = 10', null],
    ['"10" != 10', null],
    ['"10" > 5', null],
    ["[1,2] > 1", null],
    ["true > false", null],
    ["null > 1", null],
    ['"a" < "b"', true],
    ["[1, [2]] = [1, [2]]", true],
    ["{a: 1, b: 2} = {b: 2, a: 1}", true],
    ["{a: 1} = {a: 1, b: null}", false],
    ["2 between 1 and 3", true],
    ['"2" between 1 and 3', null],
    ["2 in [1..3]", true],
    ["3 in [1..3)", false],
    ["5 in (> 3, 1)", true],
    ["2 in (1, 2)", true],
    ["2 in [1, 2]", true],
    ["2 in xs", true, { xs: [2] }],
    ["5 in (? > 3)", true],
    ["true and null", null],
    ["false and null", false],
    ["true or null", true],
    ["false or null", null],
    ["not(null)", null],
    ["x instance of number", true, { x: 1 }],
    ["x instance of list<string>", false, { x: [1] }],
  ]);
});

describe("a FEEL list", () => {
  table([
    ["[1,2,3][1]", 1],
    ["[1,2,3][-1]", 3],
    ["[1,2,3][0]", null],
    ["[1,2,3][4]", null],
    ["[1,2,3][i]", 2, { i: 2 }],
    ["[1,2,3][item > 1]", [2, 3]],
    ["[1,2,3][> 1]", [2, 3]],
    ["[1,2,3][not(item = 2)]", [1, 3]],
    ["people[age > 18].name", ["Ada"], people],
    ["people[active].name", ["Ada"], people],
    ['people[starts with(name, "B")].age', [12], people],
    ["people.age", [36, 12], people],
    ["null[1]", null],
    ["5[1]", 5],
    ["some p in people satisfies p.age > 30", true, people],
    ["every p in people satisfies p.age > 30", false, people],
    ["every x in [] satisfies false", true],
    ["some x in [1] satisfies 1", false],
    ["some x in null satisfies true", null],
    ["for i in 1..3 return i * i", [1, 4, 9]],
    ["for i in 3..1 return i", [3, 2, 1]],
    ["for i in -2..0 return i", [-2, -1, 0]],
    ["for i in 0.5..2 return i", [0.5, 1.5]],
    ["for i in (1..4) return i", [2, 3]],
    ["for x in [1,2], y in [x, 10] return x * y", [1, 10, 4, 20]],
    ["for i in 1..5 return if i < 3 then 1 else partial[-1] + partial[-2]", [1, 1, 2, 3, 5]],
    ["for x in 5 return x", null],
    ["{f: function(n) some x in [1, 2] satisfies x = n or f(n - 1), r: f(4)}.r", true],
    ["sort([3,1,2], function(a, b) a < b)", [1, 2, 3]],
    ["{f: function(n) if n < 2 then 1 else n * f(n - 1), r: f(5)}.r", 120],
  ]);
});

describe("a FEEL number", () => {
  table([
    ["0.1 + 0.2", 0.30000000000000004],
    ["9007199254740993", 9007199254740992],
    ["1e3", 1000],
    ["- 1", -1],
    ["1 / 0", null],
    ["10 ** 400", null],
    ["0 * -1", 0],
    ['"a" + 1', null],
    ['"a" + "b"', "ab"],
    ["median([10, 9, 1])", 9],
  ]);
});

describe("a FEEL string", () => {
  table([
    ['string length("😀")', 1],
    ['"a\\"b\\n\\u0041"', 'a"b\nA'],
    ['upper case("a")', "A"],
    ['matches("order-12", "order-[0-9]+")', true],
    ['replace("abc", "b", "x")', "axc"],
    ['split("a;b", ";")', ["a", "b"]],
    ['matches("a", "(")', null],
  ]);
});

describe("a temporal FEEL value", () => {
  table([
    ['duration("PT90M")', "PT1H30M"],
    ['duration("P1M")', "P1M"],
    ['duration("P1W")', null],
    ['duration("PT1H") * 2', "PT2H"],
    ['3 * duration("P1Y")', "P3Y"],
    ['duration("PT1H") / 4', "PT15M"],
    ['duration("PT1H") / duration("PT15M")', 4],
    ['-duration("PT1H")', "-PT1H"],
    ['duration("P200D") = duration("P201D")', false],
    ['duration("PT60M") = duration("PT1H")', true],
    ['duration("P1M") < duration("P40D")', null],
    ['date("2026-01-31") + duration("P1M")', "2026-02-28"],
    ['date("2026-02-01") - date("2026-01-01")', "P31D"],
    ['date("2026-01-01") < date("2026-01-02")', true],
    ['date("2026-01-01") < date and time("2026-01-02T00:00:00Z")', null],
    ['date and time("2026-01-01T00:00:00") < date and time("2026-01-02T00:00:00Z")', null],
    ['date and time("2026-01-01T00:00:00Z") = date and time("2026-01-01T01:00:00+01:00")', true],
    ["date(day).year + date(year: 1, month: 1, day: 1).month", 2027, { day: "2026-05-01" }],
    ['date("2026-02-30")', null],
    ['@"2026-01-01"', "2026-01-01"],
    ['@"PT5M"', "PT5M"],
    ['@"nonsense"', null],
    ['{at: [date("2026-01-01")]}', { at: ["2026-01-01"] }],
    ["[1..3]", null],
    ["function(x) x", null],
  ]);

  table([
    [
      "date and time(t)",
      "2026-07-01T10:00:00+02:00[Europe/Berlin]",
      { t: "2026-07-01T10:00:00@Europe/Berlin" },
    ],
    [
      "date and time(t)",
      "2026-07-01T10:00:00+02:00[Europe/Berlin]",
      { t: "2026-07-01T10:00:00+02:00[Europe/Berlin]" },
    ],
    // The offset decides the instant where it contradicts the zone.
    [
      "date and time(t)",
      "2022-01-01T10:00:00+02:00",
      { t: "2022-01-01T10:00:00+02:00[Europe/Berlin]" },
    ],
    ["date and time(t)", null, { t: "2022-01-01T10:00:00+02:00[Mars/Phobos]" }],
    ['@"2026-07-01T10:00:00+02:00[Europe/Berlin]"', "2026-07-01T10:00:00+02:00[Europe/Berlin]"],
  ]);
});

describe("a function that Camunda adds", () => {
  table([
    ["get or else(missing, 5)", 5],
    ["get or else(0, 5)", 0],
    ["is defined(missing)", false],
    ["is defined(x)", true, { x: null }],
    ["is defined(x.y)", false, { x: {} }],
    ["is defined(x.y)", true, { x: { y: null } }],
    ["is defined(missing.y)", false],
    ["is defined(1)", true],
    ["is empty([])", true],
    ["is empty([1])", false],
    ["is empty(null)", null],
    ['is blank(" \t")', true],
    ['is blank("a")', false],
    ['trim("  a b ")', "a b"],
    ['trim(string: " z")', "z"],
    ["trim(1)", null],
    ['extract("a1b22", "[0-9]+")', ["1", "22"]],
    ['extract("abc", "[0-9]+")', []],
    ['from json("{\\"a\\": [1]}")', { a: [1] }],
    ['from json("{")', null],
    ['to json({at: date("2026-01-01")})', '{"at":"2026-01-01"}'],
    ['to base64("FEEL ü")', "RkVFTCDDvA=="],
    ['from base64("RkVFTCDDvA==")', "FEEL ü"],
    ["duplicate values([1, 2, 1, [3], [3], 1])", [1, [3]]],
    ["partition([1,2,3], 2)", [[1, 2], [3]]],
    ["partition([1], 0)", null],
    ['last day of month(date("2024-02-10"))', "2024-02-29"],
    ['last day of month(date("2023-02-10"))', "2023-02-28"],
    ["assert(x, x > 0)", 5, { x: 5 }],
    ['fromAi(toolCall.city, "a city")', "Rome", { toolCall: { city: "Rome" } }],
    ['get value({a: {b: 1}}, ["a", "b"])', 1],
    ['get value({a: 1}, "z")', null],
    ['cycle(3, duration("PT10M"))', "R3/PT10M"],
    ['cycle(duration("P1D"))', "R/P1D"],
    ['cycle(null, duration("P1D"))', "R/P1D"],
    ["cycle(3, 5)", null],
  ]);

  test("assert fails the evaluation, with the given cause", () => {
    expect(problemOf('assert(null, false, "no order")')).toContain("assertion failed: no order");
  });
});

describe("a text that is not FEEL", () => {
  test.each([
    ["1 +", "ends too early"],
    ["a b c", 'nothing named "a b c"'],
    ["1 2", "does not belong there"],
    ["a = ) 1", "does not belong there"],
    ["if a then b", "ends too early"],
    ["", "it is empty"],
    ["   ", "it is empty"],
    ["no such function(1)", "does not belong"],
    ["nosuch(1)", "no function named nosuch"],
    ["function(x) external {a: 1}", "external functions are not supported"],
    ["{__proto__: 1}", "cannot be the name"],
  ])("%j is refused at deploy and at evaluation: %s", (text, reason) => {
    expect(feel.check(text)).toContain(reason);
    expect(problemOf(text)).toBe(feel.check(text));
  });

  test("is no problem as a comment around an expression", () => {
    expect(feelValue("/* one */ 1 // more\n + 2")).toBe(3);
  });
});

describe("the variables of an expression", () => {
  test.each<[string, string[]]>([
    ["a > b.c and a < 5", ["a", "b"]],
    ["for i in xs return i + partial[-1]", ["xs"]],
    ["xs[item > limit]", ["xs", "limit"]],
    ["function(x) x + y", ["y"]],
    ["{a: 1, b: a + c}", ["c"]],
    ["now() + duration(wait)", ["wait"]],
    ["is defined(flag)", ["flag"]],
    ['cycle(3, duration("PT1H"))', []],
    ["1 +", []],
  ])("%s are %j", (text, names) => {
    expect(feel.variablesOf(text)).toEqual(names);
  });
});
