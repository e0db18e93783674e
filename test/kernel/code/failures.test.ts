import { describe, expect, test } from "vitest";
import { broken, done, resultOf, run } from "../../support/code-play.ts";

const CAUGHT = `catch (error: any) {
  return { name: error.name, type: error.type, code: error.code, message: error.message, attempts: error.attempts };
}`;
const trying = (options = "{}") => `try { return await task("a", null, ${options}); } ${CAUGHT}`;

describe("a failure", () => {
  test("R12: is thrown where it is awaited, with type, code and message", async () => {
    const order = await run(trying(), (it) => broken(it, "a", "NO_STOCK"));

    expect(resultOf(order)).toEqual({
      name: "TaskFailed",
      type: "a",
      code: "NO_STOCK",
      message: "a broke",
      attempts: 1,
    });
  });

  test("R12: D21: that nothing catches ends the instance with its error", async () => {
    const order = await run('await delay("1h"); await task("a");', async (it) => {
      await it.fire("timer");
      await broken(it, "a", "NO_STOCK");
    });

    expect(order.status).toBe("failed failure");
    expect(order.instance.error).toMatchObject({
      name: "TaskFailed",
      code: "NO_STOCK",
      message: "a broke",
      stack: expect.stringMatching(/^ +at .*workflow\.js:\d+:\d+\)/),
    });
  });

  test("R12: ends what else is open", async () => {
    const order = await run(
      'event("e"); task("b", null, { timeout: "1h" }); await task("a");',
      (it) => broken(it, "a"),
    );

    expect(order.instance.tickets).toEqual([]);
    expect(order.trail.filter((line) => line.startsWith("element-terminated"))).toEqual([
      "element-terminated event:e",
      "element-terminated b",
    ]);
  });

  test.each([
    ["an error", 'throw new TypeError("no");', { name: "TypeError", message: "no" }],
    ["an error with a code", 'throw Object.assign(new Error("no"), { code: "C" });', { code: "C" }],
    ["a text", 'throw "no";', { message: "The workflow threw no." }],
    [
      "a plain object",
      'throw { foo: 1, list: ["a"] };',
      { message: 'The workflow threw {"foo":1,"list":["a"]}, which is not an error.' },
    ],
    [
      "an object with a code",
      'throw { code: "C" };',
      { message: 'The workflow threw {"code":"C"}, which is not an error.', code: "C" },
    ],
    [
      "a large object",
      'throw { text: "a".repeat(5_000_000) };',
      {
        message: expect.stringMatching(
          /^The workflow threw \{"text":"a{491}…, which is not an error\.$/,
        ),
      },
    ],
    [
      "an object in itself",
      "const loop: any = {}; loop.self = loop; throw loop;",
      { message: "The workflow threw a value that has no text." },
    ],
    [
      "an object without JSON text",
      "throw { toJSON() {} };",
      { message: "The workflow threw a value, which is not an error." },
    ],
    [
      "what has no text",
      "throw Object.create(null, { name: { get() { throw 1; } } });",
      { message: "The workflow threw a value that has no text." },
    ],
  ])("D21: of the workflow itself is its error: %s", async (_, body, error) => {
    const order = await run(body);

    expect(order.status).toBe("failed failure");
    expect(order.instance.error).toMatchObject(error);
  });

  test("D21: is cut to what an instance keeps", async () => {
    const order = await run(
      'throw Object.assign(new Error("m".repeat(5000)), { code: "c".repeat(5000), name: "n".repeat(5000) });',
    );

    const { message = "", code = "", name = "" } = order.instance.error ?? {};
    expect([message.length, code.length, name.length]).toEqual([1_000, 1_000, 200]);
  });

  test.each(["TaskFailed", "WorkflowError", "Error"])(
    "D3: is caught by its class, replayed or not: %s",
    async (name) => {
      const order = await run(
        `let caught = false;
         try { await task("a"); } catch (error) { caught = error instanceof ${name} && !(error instanceof TimedOut); }
         await delay("1s"); return caught;`,
        async (it) => {
          await broken(it, "a");
          await it.fire("timer");
        },
      );

      expect(resultOf(order)).toBe(true);
    },
  );

  test("D3: replays as a failure, in the middle of successes", async () => {
    const order = await run(
      `const seen: string[] = [];
       for (const type of ["a", "b", "c"]) {
         try { seen.push(String(await task(type))); } catch (error: any) { seen.push(error.code ?? "none"); }
         finally { await task("log"); }
       }
       return seen;`,
      async (it) => {
        await done(it, "a", 1);
        await done(it, "log");
        await broken(it, "b", "B");
        await done(it, "log");
        await it.fail("c", { retries: 0, message: "" });
        await broken(it, "log").catch(() => {});
      },
    );

    expect(order.status).toBe("failed failure");
    expect(order.instance.journal?.entries.map(([n, , outcome]) => [n, outcome])).toEqual([
      [1, ["a", 1]],
      [2, ["log", null]],
      [3, ["b", { name: "TaskFailed", message: "b broke", type: "b", attempts: 1, code: "B" }, 1]],
      [4, ["log", null]],
      [5, ["c", { name: "TaskFailed", message: "", type: "c", attempts: 1 }, 1]],
      [6, ["log", expect.objectContaining({ name: "TaskFailed" }), 1]],
    ]);
  });

  test("D3: of an unknown name is still an error of ours", async () => {
    const order = await run(
      `const { promise, resolve, reject } = Promise.withResolvers<any>();
       (globalThis as any).__fermata.open("event", '"name":"e"', resolve, reject);
       return (await promise).value;`,
      (it) => it.event("event:e", { eventId: "e1", seq: 1, payload: 7 }),
    );

    expect(resultOf(order)).toBe(7);
  });
});
