import { describe, expect, test } from "vitest";
import { quickjsSandbox } from "../../lib/adapters/quickjs/sandbox.ts";
import type { Sandbox } from "../../lib/definition/sandbox.ts";
import {
  aLoaded,
  aRawBundle,
  aSession,
  only,
  openingOf,
  ranIn,
  valueIn,
} from "../support/guest-session.ts";

/** The same opening and the same feeds give the same operations. */
export function determinismContract(sandbox: () => Sandbox): void {
  describe("the clock inside", () => {
    const NOW = Date.UTC(2030, 0, 31, 12, 30);

    test("is the feed's, by whatever name it is read", async () => {
      const body =
        "return [Date.now(), new Date().getTime(), Date.parse(Date()), +new Date(Date.now())];";

      expect(await valueIn(sandbox(), body, { now: NOW })).toEqual([NOW, NOW, NOW, NOW]);
    });

    test("stands still within a feed, and goes on with the next", async () => {
      const session = await aSession(
        sandbox(),
        `const first = Date.now(); for (let i = 0; i < 1_000_000; i++); const second = Date.now();
         ${WAITING}; return [first, second, Date.now()];`,
      );
      await only(session, { now: 1_000 });

      const ran = await only(session, { now: 5_000, done: { n: 1, value: null } });

      expect(ran).toMatchObject({ end: { value: [1_000, 1_000, 5_000] } });
    });

    test("is in UTC, wherever the host is", async () => {
      const body = `const date = new Date(2030, 6, 1, 12);
        return [date.toISOString(), date.getTimezoneOffset(), date.getHours(), String(date)];`;

      const zone = process.env.TZ;
      process.env.TZ = "America/New_York";
      const found = await valueIn(sandbox(), body);
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;

      expect(found).toEqual([
        "2030-07-01T12:00:00.000Z",
        0,
        12,
        "Mon Jul 01 2030 12:00:00 GMT+0000",
      ]);
    });
  });

  describe("randomness inside", () => {
    const BODY = `return [Math.random(), __fermata.random(), crypto.randomUUID(), __fermata.uuid(), Math.random()];`;

    test("follows the seed and nothing else", async () => {
      const one = await valueIn(sandbox(), BODY, { seed: "one", now: 1 });
      const again = await valueIn(sandbox(), BODY, { seed: "one", now: 2, input: 3 });
      const other = await valueIn(sandbox(), BODY, { seed: "two", now: 1 });

      expect(again).toEqual(one);
      expect(other).not.toEqual(one);
      expect(new Set(one as unknown[]).size).toBe(5);
    });

    test("makes UUIDs of version 4, and numbers from 0 up to 1", async () => {
      const body =
        "return [Array.from({ length: 50 }, crypto.randomUUID), Array.from({ length: 1_000 }, Math.random)];";

      const [ids, numbers] = (await valueIn(sandbox(), body)) as [string[], number[]];

      for (const id of ids) {
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
      expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
      expect(numbers.reduce((sum, number) => sum + number) / 1_000).toBeCloseTo(0.5, 1);
    });
  });

  describe("module scope", () => {
    test.each(["Date.now();", "new Date();", "Date();"])(
      "that reads the clock by %s is refused",
      async (code) => {
        const loaded = await sandbox().load(aRawBundle("return 1;", code));

        expect(loaded).toMatchObject({
          ok: false,
          problem: { message: expect.stringMatching(/clock is read in module scope/) },
        });
      },
    );

    test.each([
      "Math.random();",
      "crypto.randomUUID();",
      "__fermata.random();",
      "__fermata.uuid();",
    ])("that draws by %s is refused", async (code) => {
      const loaded = await sandbox().load(aRawBundle("return 1;", code));

      expect(loaded).toMatchObject({
        ok: false,
        problem: { message: expect.stringMatching(/Randomness in module scope/) },
      });
    });

    test("that uses a fixed date is not", async () => {
      const before = `const since = new Date("2030-01-01T00:00:00Z").getTime();`;
      const program = await aLoaded(sandbox(), aRawBundle("return since;", before));

      expect(await only(program.open(openingOf()), { now: 0 })).toMatchObject({
        end: { value: Date.UTC(2030, 0, 1) },
      });
    });
  });

  describe("a program that uses many built-in functions", () => {
    test("computes the same in each session, on reused machines and in every sandbox", async () => {
      const program = await aLoaded(sandbox(), aRawBundle(MANY));
      const reference = await valueIn(quickjsSandbox(), MANY, { now: 7 });

      for (let i = 0; i < 8; i++) {
        const session = program.open(openingOf());
        expect(await only(session, { now: 7 })).toMatchObject({ end: { value: reference } });
        if (i % 2 === 0) session.close();
      }
    });

    test("has kept its results since the engine was pinned", async () => {
      expect(await valueIn(sandbox(), MANY, { now: 7 })).toMatchInlineSnapshot(`852952673`);
    });

    test("does not depend on what was in memory before", async () => {
      const body = (bytes: number) =>
        `const ballast = []; for (let i = 0; i < ${bytes}; i++) ballast.push({ i }); ${MANY}`;

      expect(await valueIn(sandbox(), body(10_000))).toEqual(await valueIn(sandbox(), body(3)));
    });
  });

  test("a session sees nothing of the one that had its machine before", async () => {
    const program = await aLoaded(
      sandbox(),
      aRawBundle(
        `const before = [counter, globalThis.left ?? null, Object.prototype.left ?? null, next()];
         counter = input; globalThis.left = input; Object.prototype.left = input; for (let i = 0; i < input; i++) Math.random();
         return before;`,
        "let counter = 0; const next = () => Math.random();",
      ),
    );
    const results: unknown[] = [];

    for (const input of [5, 6, 7]) {
      const session = program.open(openingOf({ input }));
      results.push(await only(session, { now: 0 }));
      session.close();
    }

    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  test("a replay of the same feeds leads to the same operations, stacks included", async () => {
    const body = `for (let i = 0; i < 20; i++) { ${WAITING}; } throw new Error("end " + Math.random());`;
    const feeds = [
      { now: 0 },
      ...Array.from({ length: 20 }, (_, at) => ({ now: at, done: { n: at + 1, value: at } })),
    ];
    const live = await aSession(sandbox(), body);
    const one = [];
    for (const feed of feeds) one.push(await only(live, feed));

    const replayed = await (await aSession(sandbox(), body)).run(feeds);

    expect(replayed).toEqual(one);
    expect(await ranIn(sandbox(), body)).toEqual(one[0]);
  });
}

const WAITING = `await new Promise((settle) => __fermata.open("task", '"type":"t","input":' + Math.random(), settle, () => {}))`;

/** Order, sorting, numbers, text and hashing, folded into one number for each. */
const MANY = `
  const fold = (text) => { let h = 2166136261; for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619); return h >>> 0; };
  const results = [];
  const add = (value) => results.push(fold(JSON.stringify(value)));
  const xs = Array.from({ length: 300 }, (_, i) => (i * 7919) % 1009 / 13 - 30);
  for (const name of Object.getOwnPropertyNames(Math)) if (typeof Math[name] === "function" && !["random", "sumPrecise"].includes(name)) add([name, xs.map((x) => String(Math[name](x, 3)))]);
  add(xs.toSorted((a, b) => Math.trunc(a) % 5 - Math.trunc(b) % 5));
  add(xs.map(String).toSorted());
  const objects = Array.from({ length: 200 }, (_, i) => ({ i }));
  add([...new Set(objects)].map(({ i }) => i)); add([...new Map(objects.map((o) => [o, o.i])).values()]);
  const weak = new WeakMap(objects.map((o) => [o, o.i])); add(objects.map((o) => weak.get(o)));
  const keyed = {}; for (const x of xs) keyed["k" + x] = x; for (let i = 20; i > 0; i--) keyed[i] = i; add(Object.entries(keyed));
  const gone = new Map(xs.map((x) => [x, x])); for (const x of xs) if (x > 0) gone.delete(x); gone.set(1, 1); add([...gone]);
  add(Object.groupBy(xs, (x) => Math.sign(x)));
  add(xs.map((x) => [x.toFixed(3), x.toPrecision(5), x.toExponential(2), x.toString(36), x.toLocaleString()]));
  add(["\\u00e9\\u0301 stra\\u00dfe".normalize("NFD"), "\\u0130".toLowerCase(), "\\ud83d\\ude00".codePointAt(0), ["b", "a", "\\u00e4"].toSorted((a, b) => a.localeCompare(b))]);
  add([..."a1b22c333".matchAll(/(?<letter>[a-z])(\\d+)/g)].map((match) => [...match, match.index, match.groups.letter]));
  add([new Date(Date.UTC(2024, 1, 29)).toString(), new Date(1e15).toLocaleString(), Date.parse("2024-02-30"), new Date(2024, 0, 31).toJSON()]);
  add([0.1 + 0.2, 1e21, 5e-324, -0, 123456789012345680000].map(String));
  add([2n ** 200n, -7n / 2n, BigInt.asIntN(8, 200n)].map(String));
  add([...new Float32Array(xs)]); add([...new Uint8Array(new Float64Array(xs).buffer)]);
  add((() => { try { null.x; } catch (error) { return [error.name, error.message]; } })());
  add(Object.getOwnPropertyNames(globalThis)); add(Reflect.ownKeys(Promise));
  add(await Promise.all([3, 1, 2].map(async (n) => { for (let i = 0; i < n; i++) await null; return n; })));
  const order = []; await Promise.all(["a", "b", "c"].map(async (n, i) => { for (let k = 0; k <= i; k++) { await null; order.push(n + k); } })); add(order);
  return fold(results.join());`;
