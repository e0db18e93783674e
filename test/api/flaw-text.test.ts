import { describe, expect, test } from "vitest";
import * as z from "zod";
import { parse } from "../../lib/api/check.ts";
import { newVariables } from "../../lib/api/shapes/values.ts";

const textsOf = (shape: z.ZodType, value: unknown): readonly string[] => {
  const parsed = parse(shape, value);
  return "flaws" in parsed ? parsed.flaws.map(({ message }) => message) : [];
};

describe("what is wrong with a value", () => {
  test.each<[string, z.ZodType, unknown, string]>([
    ["a type", z.string(), 5, "must be a string, not a number"],
    ["null", z.string(), null, "must be a string, not null"],
    ["a record", newVariables, [], "must be an object, not an array"],
    ["nothing", z.boolean(), undefined, "is missing; it must be true or false"],
    ["a fraction", z.int(), 1.5, "must be a whole number"],
    ["a choice", z.enum(["a", "b", "c"]), "d", 'must be "a", "b" or "c"'],
    ["one value", z.literal("a"), "b", 'must be "a"'],
    ["empty text", z.string().min(1), "", "must not be empty"],
    ["short text", z.string().min(2), "a", "must have at least 2 characters"],
    ["long text", z.string().max(1), "ab", "must have at most 1 character"],
    ["a long list", z.array(z.int()).max(2), [1, 2, 3], "must have at most 2 items"],
    ["a small number", z.int().min(1), 0, "must be at least 1"],
    ["a large number", z.int().max(9), 10, "must be at most 9"],
    ["values", z.union([z.literal(1), z.literal(2)]), 3, "must be 1 or 2"],
    ["types", z.union([z.string(), z.number()]), true, "must be a string or a number"],
    [
      "a rule of a type",
      z.union([z.string().max(1), z.number()]),
      "ab",
      "must have at most 1 character",
    ],
    [
      "a rule of its own",
      z.string().regex(/^a/, { error: "must begin with a" }),
      "b",
      "must begin with a",
    ],
  ])("%s", (_, shape, value, text) => {
    expect(textsOf(shape, value)).toEqual([text]);
  });

  test("is told with the name of the property", () => {
    const shape = z.strictObject({ name: z.string(), size: z.int() });

    expect(textsOf(shape, { size: "5", nam: 1 })).toEqual([
      "name: is missing; it must be a string",
      "size: must be a number, not a string",
      '"nam" is not known here',
    ]);
  });
});
