import { describe, expect, test } from "vitest";
import { parseJsonResult } from "../../../lib/adapters/handlers/task-result.ts";
import { jsonText } from "../../../lib/workflow/json-text.ts";

class Money {
  readonly amount: number;
  readonly currency = "CHF";
  readonly #rate = 2;
  constructor(amount: number) {
    this.amount = amount;
  }
  get doubled(): number {
    return this.amount * this.#rate;
  }
}

class Id {
  toJSON(): string {
    return "id-1";
  }
}

class Lines extends Array<number> {}

class Itself {
  readonly a = 1;
  toJSON(): this {
    return this;
  }
}

class Endless {
  toJSON(): unknown {
    return { again: this };
  }
}

describe("the result of a step", () => {
  test.each<[string, unknown, unknown]>([
    ["an object of a class", new Money(5), { amount: 5, currency: "CHF" }],
    ["one inside others", { all: [new Money(1)] }, { all: [{ amount: 1, currency: "CHF" }] }],
    ["a date", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    [
      "an object with toJSON",
      [new Id(), { toJSON: () => ({ a: new Id() }) }],
      ["id-1", { a: "id-1" }],
    ],
    ["an object whose toJSON returns it", new Itself(), { a: 1 }],
    ["a URL", new URL("https://example.com/a"), "https://example.com/a"],
    ["bytes", Buffer.from("ab"), { type: "Buffer", data: [97, 98] }],
    ["a list of a class", Lines.from([1, 2]), [1, 2]],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      "objects of primitives",
      [new Number(1), new String("a"), new Boolean(false)],
      [1, "a", false],
    ],
    [
      "undefined properties of a class",
      Object.assign(new Money(1), { note: undefined }),
      { amount: 1, currency: "CHF" },
    ],
  ])("is what JSON carries of %s, as in a workflow", (_, value, carried) => {
    expect(parseJsonResult(value, "the result")).toEqual({ ok: true, value: carried });
    expect(JSON.parse(jsonText(value, "w", "result"))).toEqual(carried);
  });

  test.each<[string, unknown, string]>([
    ["a map", { m: new Map() }, "the result.m is a Map."],
    ["a set", new Set(), "the result is a Set."],
    ["a promise", [Promise.resolve()], "the result[0] is a Promise."],
    ["an invalid date", { at: new Date(Number.NaN) }, "the result.at is an invalid Date."],
    [
      "a BigInt in an object of a class",
      { m: new Money(1n as never) },
      "the result.m.amount is a BigInt.",
    ],
    ["NaN", [Number.NaN], "the result[0] is NaN."],
    ["a function", { f: () => 1 }, "the result.f is a function."],
    [
      "a toJSON that gives nothing",
      { a: { toJSON: () => undefined } },
      "the result.a is undefined.",
    ],
    ["a toJSON that leads back", new Endless(), "the result.again contains itself."],
  ])("is refused for %s, as in a workflow", (_, value, problem) => {
    expect(parseJsonResult(value, "the result")).toMatchObject({ ok: false, problem });
    expect(() => jsonText(value, "w", "result")).toThrow(TypeError);
  });
});
