import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../lib/api/json-text.ts";
import { repeatedNameIn } from "../../lib/api/repeated-name.ts";
import { fakeApi } from "./fake-api.ts";

const parse = (text: string): unknown => parseJson(new TextEncoder().encode(text));

describe("JSON from outside", () => {
  test.each([
    ['{"a":1,"a":2}', "a", "/a", 7],
    ['{"a":1,"b":{"c":[{}, {"d" : 1, "e":2, "d"\n:{}}]}}', "d", "/b/c/1/d", 38],
    ['{"a":1,"\\u0061":2}', "a", "/a", 7],
    ['{"x/y~z":1,"x/y~z":1}', "x/y~z", "/x~1y~0z", 11],
    ['{"":1,"":1}', "", "/", 6],
    ['{"q\\"":"\\\\","q\\"":"}"}', 'q"', '/q"', 12],
    ['{"constructor":1,"constructor":2}', "constructor", "/constructor", 17],
    ['[[],[{"a":[1,2],"a":[1]}]]', "a", "/1/0/a", 16],
  ])("is refused for a duplicate name in %s", (text, name, at, position) => {
    expect(repeatedNameIn(text)).toEqual({ name, at, position });
    expect(() => parse(text)).toThrow(`${JSON.stringify(name)} twice, again at character`);
  });

  test.each([
    '{"a":{"a":[{"a":1},{"a":1}]},"b":"a\\":1,\\"a\\":"}',
    '{"A":1,"a":2}',
    '{"a\\\\":":","b":"\\\\"}',
    '["a","a",":",":"]',
  ])("may have the same name in different places: %s", (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  test("is read as JSON.parse reads it, whatever its names are", () => {
    // No name ends in a backslash: V8 13.6 then takes the name "\\\"" of a like object for it.
    const aName = fc.constantFrom("a", "b", ":", 'c"d', "toString", "ä", "{", "");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, 1, ...[":", '":', "\\", '"a":1']),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(aName, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 2), (value, indent) => {
        expect(parse(JSON.stringify(value, null, indent))).toEqual(value);
      }),
    );
  });

  test("has no property __proto__, once or twice", () => {
    expect(() => parse('{"__proto__":{}}')).toThrow("nothing may be called __proto__");
    expect(() => parse('{"__proto__":{"a":1},"__proto__":{}}')).toThrow("twice");
    expect(Reflect.get({}, "a")).toBeUndefined();
  });
});

describe("a call", () => {
  test("with a duplicate name in its body answers 400, with the name and its position", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", "/v1/signals", {
      body: '{"name":"paid","payload":{"n":1,"n":2}}',
      headers: { "content-type": "application/json" },
    });

    expect(answer).toMatchObject({
      status: 400,
      json: {
        code: "request/invalid",
        errors: [
          {
            in: "body",
            at: "/payload/n",
            message: 'the object has "n" twice, again at character 32',
          },
        ],
      },
    });
    expect(asked).toEqual([]);
  });
});
