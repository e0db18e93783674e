import { describe, expect, test } from "vitest";
import type { Ran, Sandbox } from "../../lib/definition/sandbox.ts";
import { aBundle } from "../support/code-workflow.ts";
import { aLoaded, aRawBundle, only, openingOf, ranIn, valueIn } from "../support/guest-session.ts";

/** A bundle that changes built-in objects harms nobody but itself. */
export function pollutionContract(sandbox: () => Sandbox): void {
  describe("a bundle that pollutes", () => {
    test.each(Object.entries(POLLUTED))("%s is served, or stops by itself", async (_, code) => {
      const body = `${code}\n await task("a", { x: [1, "two"] }); return task("b");`;
      const bundle = aBundle(`export const w = workflow("w", async () => {\n${body}\n});`);
      const session = (await aLoaded(sandbox(), bundle)).open(openingOf());

      const all = await session.run([
        { now: 0 },
        { now: 0, done: { n: 1, value: { ok: true } } },
        { now: 0, done: { n: 2, value: "end" } },
      ]);

      for (const ran of all) expect(isClean(ran), JSON.stringify(ran)).toBe(true);
    });

    test.each(Object.entries(POLLUTED))("%s in module scope changes no other", async (_, code) => {
      const loaded = await sandbox().load(aRawBundle("return 1;", code));
      if (loaded.ok) await only(loaded.program.open(openingOf()), { now: 0 });

      expect(await valueIn(sandbox(), HEALTHY)).toEqual(["1,2", '{"a":1}', 2, "x", null]);
      expect([1, 2].join()).toBe("1,2");
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    test("what the driver calls is stopped, when it cannot go on", async () => {
      const body = `Object.prototype.toJSON = () => { for (;;); }; return {};`;

      expect(await ranIn(sandbox(), body)).toMatchObject({ kind: "stopped", stop: "fuel" });
    });
  });

  describe("a value with a __proto__ key", () => {
    const EVIL = `'{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'`;

    test("comes out as data", async () => {
      const ran = await ranIn(
        sandbox(),
        `__fermata.open("task", '"type":"t","input":' + ${EVIL}, () => {}, () => {});`,
      );

      const input =
        ran.kind === "ran" && ran.operations[0]?.op === "task" ? ran.operations[0].input : null;
      expect(Object.hasOwn(input as object, "__proto__")).toBe(true);
      expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    test("cannot be the fields of an operation or of the end", async () => {
      const ran = await ranIn(
        sandbox(),
        `__fermata.open("timer", '"__proto__":{"after":"PT1S"},"until":5', () => {}, () => {}); return JSON.parse(${EVIL});`,
      );

      expect(ran).toMatchObject({ kind: "ran", operations: [{ op: "timer", until: 5 }] });
    });

    test("goes in as data", async () => {
      const input = JSON.parse(`{"__proto__":{"polluted":true}}`);

      const body = `return [{}.polluted ?? null, Object.hasOwn(input, "__proto__")];`;
      expect(await valueIn(sandbox(), body, { input })).toEqual([null, true]);
    });
  });
}

const isClean = (ran: Ran): boolean =>
  ran.kind === "stopped" ? ran.message !== "" && !/ at |node:/.test(ran.message) : true;

const HEALTHY = `return [[1, 2].join(), JSON.stringify({ a: 1 }), [1].concat(2).map((n) => n).length, /x/.exec("x")[0], {}.polluted];`;

const thrower = `() => { throw new Error("polluted"); }`;

const POLLUTED = {
  "Object.prototype": `Object.prototype.polluted = true; Object.prototype.n = 7; Object.prototype.value = 1; Object.prototype.failure = { name: "TaskFailed" };`,
  "Object.prototype with setters": `for (const name of ["n", "stack", "settle", "scope", "value"]) Object.defineProperty(Object.prototype, name, { get() { return 1; }, set() { throw new Error("polluted"); } });`,
  "Object.prototype.toJSON": "Object.prototype.toJSON = () => 'polluted';",
  lists: `Array.prototype.push = ${thrower}; Array.prototype.join = ${thrower}; Array.prototype.map = ${thrower};`,
  "lists with setters":
    "for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, { set() { throw new Error('polluted'); } });",
  "the iterator of lists": `Array.prototype[Symbol.iterator] = ${thrower};`,
  JSON: `JSON.parse = ${thrower}; JSON.stringify = ${thrower};`,
  "JSON with lies": `JSON.stringify = () => '}]}garbage';`,
  "Promise.prototype.then": `Promise.prototype.then = ${thrower};`,
  Promise:
    "Promise.resolve = () => 1; Promise.withResolvers = () => ({}); globalThis.Promise = class {};",
  "Map.prototype": `Map.prototype.get = () => 1; Map.prototype.set = ${thrower}; Map.prototype.delete = ${thrower}; Map.prototype.forEach = ${thrower};`,
  "RegExp.prototype": `RegExp.prototype.exec = ${thrower}; RegExp.prototype[Symbol.replace] = ${thrower};`,
  Reflect: `Reflect.apply = ${thrower}; Function.prototype.call = ${thrower}; Function.prototype.apply = ${thrower};`,
  Object: `Object.defineProperty = ${thrower}; Object.freeze = ${thrower}; Object.keys = ${thrower};`,
  Error: `Error.captureStackTrace = ${thrower}; Object.defineProperty(Error, "stackTraceLimit", { get: ${thrower}, set: ${thrower} }); globalThis.Error = 1;`,
  "everything by freezing it":
    "for (const name of Object.getOwnPropertyNames(globalThis)) { const it = globalThis[name]; if (it instanceof Object) { Object.freeze(it); if (it.prototype) Object.freeze(it.prototype); } } Object.freeze(globalThis);",
  __fermata: `try { globalThis.__fermata = 1; } catch {} try { Object.defineProperty(globalThis, "__fermata", { value: 1 }); } catch {} try { delete globalThis.__fermata; } catch {} try { __fermata.open = 1; } catch {}`,
  globalThis:
    "for (const name of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[name]; } catch {} }",
  "the clock":
    "Date.now = () => 5; globalThis.Date = 1; Math.random = () => 0.5; Math.imul = () => 1;",
};
