import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../lib/definition/sandbox.ts";
import { valueIn } from "../support/guest-session.ts";

/** Nothing of the host can be reached from inside. */
export function escapesContract(sandbox: () => Sandbox): void {
  describe("code inside", () => {
    test.each(ABSENT)("has no %s", async (name) => {
      expect(await valueIn(sandbox(), `return typeof ${name}`)).toBe("undefined");
    });

    test("finds built-in objects of the language in global scope, and nothing else", async () => {
      const names = await valueIn(sandbox(), "return Object.getOwnPropertyNames(globalThis)");

      expect(names).toEqual(expect.arrayContaining(["Object", "Promise", "crypto", "console"]));
      expect((names as string[]).filter((name) => !LANGUAGE.has(name)).toSorted()).toEqual([
        "__fermata",
        "console",
        "crypto",
        "queueMicrotask",
      ]);
    });

    test("reaches no function but built-in ones and those of the operation protocol", async () => {
      const reached = await valueIn(sandbox(), WALK);

      expect(reached).toEqual({ foreign: [], ours: PROTOCOL_FUNCTIONS });
    });

    test.each(GLOBAL_OBJECTS)("stays inside by %s", async (code) => {
      expect(await valueIn(sandbox(), `return ${code} === globalThis`)).toBe(true);
    });

    test.each(CONSTRUCTORS)("makes functions by %s that know as little", async (maker) => {
      const body = `return await ${maker}("return typeof process + typeof require + typeof WebAssembly")()`;

      expect(await valueIn(sandbox(), body)).toBe("undefinedundefinedundefined");
    });

    test.each(["fs", "node:fs", "./escape.js", "data:text/javascript,1"])(
      "cannot import %s",
      async (specifier) => {
        const body = `try { await import(${JSON.stringify(specifier)}); return "imported"; } catch (error) { return error.name; }`;

        expect(await valueIn(sandbox(), body)).toBe("ReferenceError");
      },
    );

    test("sees its own file and the engine's in stacks, never a path of the host", async () => {
      const body = `const stacks = [];
        try { null.x; } catch (error) { stacks.push(error.stack); }
        try { __fermata.workflow("late", 1); } catch (error) { stacks.push(error.stack); }
        try { JSON.parse("{"); } catch (error) { stacks.push(error.stack); }
        return stacks.join("");`;

      const files = String(await valueIn(sandbox(), body)).matchAll(/\(([^():]*)/g);

      const known = ["workflow.js", "fermata", "native", "<input>"];
      expect(
        [...files].map(([, file]) => file).filter((file) => !known.includes(`${file}`)),
      ).toEqual([]);
    });

    test("cannot read the functions of a stack through Error.prepareStackTrace", async () => {
      const body = `let seen = "nothing";
        Error.prepareStackTrace = (_, frames) => { seen = frames.map((frame) => typeof frame.getFunction()).join(); };
        new Error("x").stack;
        return seen;`;

      expect(await valueIn(sandbox(), body)).toBe("nothing");
    });
  });
}

const ABSENT = [
  ..."require process fetch setTimeout setInterval setImmediate Intl WeakRef FinalizationRegistry".split(
    " ",
  ),
  ..."performance SharedArrayBuffer Atomics WebAssembly Buffer module global navigator std os bjson".split(
    " ",
  ),
  ..."gc print scriptArgs Worker structuredClone TextDecoder URL".split(" "),
];

/** What ECMAScript has, and the few names that QuickJS adds to it. */
const LANGUAGE = new Set([
  ...Object.getOwnPropertyNames(globalThis).filter((name) =>
    /^[A-Z]|^(is|parse|en|de|un|es|ev)/.test(name),
  ),
  ..."undefined globalThis InternalError DOMException Float16Array btoa atob".split(" "),
  ..."SuppressedError DisposableStack AsyncDisposableStack Iterator".split(" "),
]);

const PROTOCOL_FUNCTIONS =
  "about cancel close debug enter error here info log open openIn publish random scoped step trace uuid warn workflow".split(
    " ",
  );

/** Everything that can be reached from the global object by properties, accessors and prototypes. */
const WALK = `
  const seen = new Set([globalThis]);
  const queue = [globalThis];
  const add = (value) => {
    if (!(typeof value === "object" && value !== null) && typeof value !== "function") return;
    if (!seen.has(value)) { seen.add(value); queue.push(value); }
  };
  for (const start of [async () => {}, function* () {}, async function* () {}, /x/, new Error("x"), Promise.resolve(), new Map().entries(), [].values(), "".matchAll(/x/g)]) add(start);
  const own = new Set(seen);
  const found = { foreign: [], ours: [] };
  while (queue.length > 0) {
    const object = queue.pop();
    if (typeof object === "function" && !own.has(object)) {
      const text = Function.prototype.toString.call(object);
      if (!text.includes("[native code]")) found.ours.push(object.name);
    }
    const tag = Object.prototype.toString.call(object);
    if (/process|Module|WebAssembly|MessagePort|Worker|Buffer\\]/.test(tag) && !/ArrayBuffer/.test(tag)) found.foreign.push(tag);
    add(Object.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
      add(value); add(get); add(set);
    }
  }
  found.ours.sort();
  return found;`;

const GLOBAL_OBJECTS = [
  `Function("return this")()`,
  `(0, eval)("this")`,
  `[].constructor.constructor("return this")()`,
  `__fermata.open.constructor("return this")()`,
  `__fermata.constructor.constructor("return this")()`,
  `crypto.randomUUID.constructor("return globalThis")()`,
  `console.log.constructor("return this")()`,
  `(function () { return this; }).call(undefined)`,
  `Reflect.construct(Function, ["return this"])()`,
  `new Error("x").constructor.constructor("return this")()`,
];

const CONSTRUCTORS = [
  "Function",
  "(async () => {}).constructor",
  "Reflect.getPrototypeOf(async () => {}).constructor",
  "__fermata.about().constructor.constructor",
];
