import { describe, expect, test } from "vitest";
import { MAX_LOST_TRIES } from "../../../lib/definition/limits.ts";
import type { Ran } from "../../../lib/definition/sandbox.ts";
import { done, incidentsOf } from "../../support/code-play.ts";
import { aCodeOn } from "../../support/code-workflow.ts";
import { play } from "../../support/play.ts";
import { watched } from "../../support/watched-guest.ts";

const BODY = `const seen = [await task("a")]; seen.push(await task("b")); seen.push(uuid()); await task("c", seen);`;

describe("a machine that is lost", () => {
  const LOST: readonly Ran[] = [{ kind: "stopped", stop: "lost", message: "gone" }];

  /** The n-th runs of a session are lost. */
  const losing = (body: string, lost: readonly number[], how = LOST) => {
    let runs = 0;
    return watched(body, (real) => (lost.includes(++runs) ? Promise.resolve(how) : real()));
  };

  test.each([
    ["at the start", [1]],
    ["at an outcome", [2]],
    ["at an outcome, and in the replay after it", [2, 3]],
    ["in the feed after a replay", [2, 4]],
  ])("costs another replay: %s", async (_, lost) => {
    const { seen, load } = losing(BODY, lost);
    const order = await play(aCodeOn(load));

    await done(order, "a", 1);
    await done(order, "b", 2);

    expect(order.open).toEqual(["task c"]);
    expect(seen.opened).toBe(lost.length + 1);
    expect(seen.closed).toBe(lost.length);
  });

  test("is lost as well when it does not answer", async () => {
    const { load } = losing(BODY, [2, 3], []);
    const order = await play(aCodeOn(load));

    await done(order, "a", 1);

    expect(order.open).toEqual(["task b"]);
  });

  test("is an incident when it is lost again and again, which keeps the fact", async () => {
    const tries = MAX_LOST_TRIES;
    const { seen, load } = losing(
      BODY,
      Array.from({ length: tries }, (_, n) => n + 2),
    );
    const order = await play(aCodeOn(load));

    await done(order, "a", 1);
    const incidents = incidentsOf(order);
    await order.resolve("a");

    expect(incidents).toEqual([expect.stringContaining("UNKNOWN: The machine that ran")]);
    expect(seen.opened).toBe(tries + 1);
    expect(order.open).toEqual(["task b"]);
  });

  test("is an incident at once when it broke", async () => {
    const { seen, load } = losing(BODY, [2], [{ kind: "stopped", stop: "crash", message: "trap" }]);
    const order = await play(aCodeOn(load));

    await done(order, "a", 1);

    expect(incidentsOf(order)).toEqual(["UNKNOWN: trap"]);
    expect(seen).toMatchObject({ opened: 1, closed: 1 });
  });

  test("D18: is thrown away when it does not know the operation", async () => {
    const unknown = [{ kind: "ran", operations: [], isUnknown: true }] as const;
    const { seen, load } = losing(BODY, [2], unknown);
    const order = await play(aCodeOn(load));

    await done(order, "a", 1);

    expect(incidentsOf(order)).toEqual(["NON_DETERMINISM: The workflow has no operation 1 open."]);
    expect(seen).toMatchObject({ opened: 1, closed: 1 });
  });
});
