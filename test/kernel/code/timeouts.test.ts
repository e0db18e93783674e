import { describe, expect, test } from "vitest";
import { done, resultOf, run } from "../../support/code-play.ts";

const CAUGHT = `catch (error: any) {
  return { name: error.name, type: error.type, code: error.code, message: error.message, attempts: error.attempts };
}`;
const trying = (options = "{}") => `try { return await task("a", null, ${options}); } ${CAUGHT}`;

describe("a timeout", () => {
  const TIMED = trying('{ timeout: "1m", retry: { backoff: "10s", maxAttempts: 9 } }');

  test("R21: ends all attempts of a task together with TimedOut", async () => {
    const order = await run(TIMED, async (it) => {
      await it.fail("a");
      await it.fire("a");
    });

    expect(resultOf(order)).toEqual({
      name: "TimedOut",
      type: "a",
      code: "TIMEOUT",
      message: "The task a was not done within PT60S.",
      attempts: 2,
    });
    expect(order.trail).toContain("timer-due a");
  });

  test("R21: in the pause after an attempt counts the attempts that were made", async () => {
    const paused = trying('{ timeout: "1m", retry: { backoff: "2m", maxAttempts: 9 } }');
    const order = await run(paused, async (it) => {
      await it.fail("a");
      await it.fire("a");
    });

    expect(resultOf(order)).toMatchObject({ name: "TimedOut", attempts: 1 });
  });

  test("R21: D3: is a TaskFailed", async () => {
    const order = await run(
      `try { await task("a", null, { timeout: "1m" }); }
       catch (error) { return [error instanceof TimedOut, error instanceof TaskFailed]; }`,
      (it) => it.fire("a"),
    );

    expect(resultOf(order)).toEqual([true, true]);
  });

  test("R21: is disarmed by the outcome, and stands for no operation", async () => {
    const order = await run(`${TIMED} finally { await delay("1h"); }`, async (it) => {
      expect(it.tokens).toEqual([{ element: "a", count: 1 }]);
      await done(it, "a", 1);
    });

    expect(order.open).toEqual(["timer timer"]);
  });

  test("R21: is disarmed with its task", async () => {
    const order = await run(
      'await race([task("a", null, { timeout: "1m" }), event("e")]); await event("f");',
      (it) => it.event("event:e", { eventId: "e1", seq: 1 }),
    );

    expect(order.open).toEqual(["event event:f"]);
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(1);
  });
});
