import { describe, expect, test } from "vitest";
import { cursorFor, parseCursor, type Question } from "../../../lib/adapters/dynamodb/cursor.ts";

describe("a cursor", () => {
  const question: Question = ["list", "t#L#live"];
  const position = ["2024-01-31#é", "t#I#🙂", "S"];

  test("decodes to its position", () => {
    expect(parseCursor(question, cursorFor(question, position))).toEqual(position);
  });

  test.each<[string, string]>([
    ["of another view", cursorFor(["list", "t#L#done"], position)],
    ["of another kind of question", cursorFor(["scan", "t#L#live"], ["S"])],
    ["that lacks a part", cursorFor(question, ["x"])],
    ["that is no cursor", "elsewhere"],
    ["that is other JSON", Buffer.from("[1,2]").toString("base64url")],
    ["that is empty", ""],
  ])("%s is refused", (_, cursor) => {
    expect(() => parseCursor(question, cursor)).toThrow(
      expect.objectContaining({ code: "store/cursor-invalid" }),
    );
  });
});
