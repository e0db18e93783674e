import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import { decideIncident } from "../../../lib/kernel/decide.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import { done, resultOf, run } from "../../support/code-play.ts";
import { aCode } from "../../support/code-workflow.ts";
import { aNew, anEvent, committed, givenAt, type Play, play } from "../../support/play.ts";

const added = ({ program, instance }: Play, before: Instance) =>
  program.runner.addedValues?.(before, instance);

describe("the values that a step has added", () => {
  test("R23: are the input of the workflow and those of its first operations", async () => {
    const order = await run('await task("a", "12345");', undefined, { input: "123" });

    expect(added(order, aNew(order.program))).toEqual({
      largest: {
        what: "the input of operation 1, a",
        bytes: 7,
        site: [expect.any(Number), expect.any(Number)],
      },
      bytes: 12,
    });
  });

  test("R23: are none where a workflow without an input only waits", async () => {
    const order = await run("await event('e');", undefined, { isBare: true });

    expect(added(order, aNew(order.program))).toBeUndefined();
  });

  test("R23: are outcomes and new operations, not those that were open", async () => {
    const body = `const slow = task("slow", "0123456789 0123456789");
      await task("a", null); await task("b", "12"); await slow;`;
    const order = await run(body);
    const started = order.instance;
    await done(order, "a", "1234");
    const first = added(order, started);
    const waiting = order.instance;
    await done(order, "b", "123456789");

    expect(first).toMatchObject({
      largest: { what: "the outcome of operation 2", bytes: 12 },
      bytes: 16,
    });
    expect(added(order, waiting)).toMatchObject({
      largest: { what: "the outcome of operation 3", bytes: 17 },
      bytes: 17,
    });
  });

  test("R23: are the result of the workflow, without a place", async () => {
    const order = await run('task("a"); return "12345678901234567890";');

    expect(added(order, aNew(order.program))?.largest).toEqual({
      what: "the result of the workflow",
      bytes: 22,
    });
  });

  test("R23: have no place where the operation has none", async () => {
    const order = await run('await task("a", "12345");');
    const state = { ...(order.instance.state as object), o: [[1, 0, "12345"]] } as Json;
    order.instance = committed({ ...order.instance, state });

    expect(added(order, aNew(order.program))?.largest).toEqual({
      what: "the input of operation 1, a",
      bytes: 7,
    });
  });
});

test("R23: an event that a step is too large for is kept if there is room, and comes back", async () => {
  const order = await play(aCode('return await event("e");'));
  const fact = { kind: "event-sent", event: anEvent("e", { payload: "news" }) } as const;
  const why = { type: "STATE_TOO_LARGE", message: "Too large." } as const;
  const refused = { fact, why, hasRoom: true };

  const { instance } = decideIncident(order.program, order.instance, refused, givenAt(order.now));
  order.instance = committed(instance);
  await order.resolve("workflow");

  expect(resultOf(order)).toBe("news");
});
