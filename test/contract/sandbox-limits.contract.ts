import { describe, expect, test } from "vitest";
import {
  MAX_FUEL_PER_FEED,
  MAX_GUEST_BYTES,
  MAX_GUEST_STACK_BYTES,
  MAX_JOBS_PER_FEED,
} from "../../lib/definition/limits.ts";
import type { Sandbox } from "../../lib/definition/sandbox.ts";
import { aSession, only, ranIn, valueIn } from "../support/guest-session.ts";

/** What runs away is stopped, and nothing that it does can prevent that. */
export function limitsContract(sandbox: () => Sandbox): void {
  describe("memory", () => {
    test.each(Object.entries(GREEDY))(
      "that grows by %s stops the feed, and is no error to catch",
      async (_, code) => {
        const body = `try { ${code} } catch { return "caught"; } finally { return "went on"; }`;

        expect(await ranIn(sandbox(), body)).toMatchObject({ kind: "stopped", stop: "memory" });
      },
    );

    test("is there up to the limit", async () => {
      const megabytes = MAX_GUEST_BYTES / 1_048_576;
      const body = (count: number) => `return new ArrayBuffer(${count} * 1_048_576).byteLength;`;

      // The engine and the bundle need about two themselves.
      expect(await ranIn(sandbox(), body(megabytes - 3))).toMatchObject({ kind: "ran" });
      expect(await ranIn(sandbox(), body(megabytes))).toMatchObject({ stop: "memory" });
    });

    test("that is given back can be used again", async () => {
      const body = `let bytes = 0;
        for (let i = 0; i < 200; i++) bytes += new ArrayBuffer(1_000_000).byteLength;
        return bytes;`;

      expect(await valueIn(sandbox(), body)).toBe(200_000_000);
    });

    test("of the host stays within bounds, however often a machine runs out of its own", async () => {
      const before = process.memoryUsage.rss();

      for (let i = 0; i < 12; i++) await ranIn(sandbox(), GREEDY.buffers);

      expect(process.memoryUsage.rss() - before).toBeLessThan(512 * 1_048_576);
    });

    test("that one session runs out of is no matter for another", async () => {
      const innocent = await aSession(sandbox(), `let n = 0; ${WAITING}; n += 1; return n;`);
      await only(innocent, { now: 0 });

      await ranIn(sandbox(), GREEDY.arrays);

      const done = { n: 1, value: null };
      expect(await only(innocent, { now: 0, done })).toMatchObject({ end: { value: 1 } });
    });
  });

  describe("an endless loop", () => {
    test.each(ENDLESS)("of %s is stopped by %s (R23)", async (_, stop, body) => {
      expect(await ranIn(sandbox(), body)).toMatchObject({ kind: "stopped", stop });
    });

    test("that ends may be as long as the limit of fuel", async () => {
      // A poll is 10,000 branches, and a turn of the loop takes two.
      const most = (MAX_FUEL_PER_FEED * 10_000) / 2;
      const body = (count: number) => `for (let i = 0; i < ${count}; i++);`;

      expect(await ranIn(sandbox(), body(most - 20_000))).toMatchObject({ kind: "ran" });
      expect(await ranIn(sandbox(), body(most + 20_000))).toMatchObject({ stop: "fuel" });
    });

    test("of promises may be as long as the limit of jobs", async () => {
      // The workflow itself takes two.
      const most = MAX_JOBS_PER_FEED - 2;
      const body = (count: number) => `for (let i = 0; i < ${count}; i++) await null;`;

      expect(await ranIn(sandbox(), body(most))).toMatchObject({ kind: "ran" });
      expect(await ranIn(sandbox(), body(most + 1))).toMatchObject({ stop: "jobs" });
    });

    test("that comes with an outcome is stopped too (R23)", async () => {
      const session = await aSession(sandbox(), `${WAITING}; for (;;);`);
      await only(session, { now: 0 });

      const ran = await only(session, { now: 0, done: { n: 1, value: null } });

      expect(ran).toMatchObject({
        kind: "stopped",
        stop: "fuel",
        message: expect.stringMatching(/endless loop/),
      });
    });

    test("has a budget of its own in each feed", async () => {
      const busy = "for (let i = 0; i < 3_000_000; i++);";
      const session = await aSession(sandbox(), `for (;;) { ${busy} ${WAITING}; }`);

      const feeds = [1, 2, 3, 4, 5, 6].map((n) => ({ now: 0, done: { n, value: null } }));
      const all = await session.run([{ now: 0 }, ...feeds]);

      expect(all.map(({ kind }) => kind)).toEqual(Array(7).fill("ran"));
    });
  });

  describe("deep recursion", () => {
    test("may be as deep as the stack is", async () => {
      const body = `let depth = 0; const f = () => { depth++; f(); };
        try { f(); } catch (error) { return [depth, error.name]; }`;

      const [depth, name] = (await valueIn(sandbox(), body)) as [number, string];

      // A call takes about 240 bytes.
      expect(depth).toBeGreaterThan(MAX_GUEST_STACK_BYTES / 320);
      expect(depth).toBeLessThan(MAX_GUEST_STACK_BYTES / 160);
      expect(name).toMatch(/RangeError|InternalError/);
    });

    test.each(Object.entries(DEEP))("of %s is an error inside", async (_, code) => {
      const body = `try { ${code} } catch (error) { return error.name; }`;

      expect(await valueIn(sandbox(), body)).toMatch(/RangeError|InternalError/);
    });

    test.each(Object.entries(TOO_DEEP))("of %s leaves the host alone", async (_, code) => {
      const ran = await ranIn(sandbox(), `try { ${code} } catch (error) { return error.name; }`);

      expect(ran).toMatchObject(
        ran.kind === "stopped"
          ? { stop: "memory" }
          : { end: { value: expect.stringMatching(/RangeError|InternalError|SyntaxError/) } },
      );
      expect(await valueIn(sandbox(), "return 1")).toBe(1);
    });
  });
}

const WAITING = `await new Promise((settle) => __fermata.open("task", '"type":"t","input":null', settle, () => {}))`;

const GREEDY = {
  arrays: "const list = []; for (;;) list.push({ a: 1 });",
  strings: `let text = "x"; for (;;) text = text.repeat(2);`,
  "one string": `"x".repeat(2 ** 29);`,
  "nested arrays": "let list = []; for (;;) list = [list, new Array(100).fill(list)];",
  buffers: "const list = []; for (;;) list.push(new ArrayBuffer(1_000_000));",
  "one buffer": "new ArrayBuffer(2 ** 30);",
  "a map": "const map = new Map(); for (let i = 0; ; i++) map.set({ i }, [i]);",
  closures: "let f = () => 0; for (;;) { const g = f; f = () => g; }",
  "filling an array": "new Array(2 ** 32 - 1).fill(0);",
  "JSON text": "JSON.stringify(new Array(30_000_000).fill(0));",
  promises: "const list = []; for (;;) list.push(new Promise(() => {}));",
};

const ENDLESS = [
  ["nothing", "fuel", "for (;;);"],
  [
    "nothing that catches all",
    "fuel",
    "for (;;) { try { for (;;); } catch {} finally { continue; } }",
  ],
  ["awaits", "jobs", "for (;;) await null;"],
  [
    "promises that make promises",
    "jobs",
    "const again = () => Promise.resolve().then(again); await again();",
  ],
  ["backtracking", "fuel", `/^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(200));`],
  ["a getter", "fuel", "const o = { get x() { for (;;); } }; return o.x;"],
  ["a toJSON of the result", "fuel", "return { toJSON() { for (;;); } };"],
  ["a thrown value", "fuel", "throw { get message() { for (;;); } };"],
] as const;

const DEEP = {
  calls: "const f = (n) => f(n + 1) + 1; f(0);",
  conversions: `const o = { toString: () => "" + o }; "" + o;`,
  comparisons: "const f = () => [2, 1].sort(f); f();",
  replacements: "const f = () => 'a'.replace(/a/, f); f();",
  proxies: "let p = {}; for (let i = 0; i < 100_000; i++) p = new Proxy(p, {}); p.x;",
};

const TOO_DEEP = {
  "JSON text": `JSON.parse("[".repeat(1_000_000));`,
  "a JSON value": "let a = []; for (let i = 0; i < 100_000; i++) a = [a]; JSON.stringify(a);",
  "source code": `eval("(".repeat(100_000));`,
  "a regular expression": `new RegExp("(?:".repeat(100_000) + ")".repeat(100_000));`,
};
