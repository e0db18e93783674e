import { describe, expect, test } from "vitest";
import {
  MAX_CONTINUATIONS,
  MAX_TRANSITIONS_PER_STEP,
  MAX_WAITS_PER_STEP,
} from "../../../lib/definition/limits.ts";
import {
  aBoundarySignal,
  aBoundaryTimer,
  aChoice,
  aPass,
  aProcess,
  aScope,
  aScript,
  aStart,
  aTask,
} from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";

/** Counts to `limit` without ever waiting, in rounds of two elements. */
const counting = aProcess(
  [aStart(), aScript("count", "n = n + 1"), aChoice("more", "more -> after"), aTask("after")],
  ["start -> count -> more", "more -> count if n < limit", "more -> after"],
);

/** The process and the start event are entered too, and the task at the end. */
const OTHERS = 3;

describe("a long step", () => {
  test(`makes ${MAX_TRANSITIONS_PER_STEP} moves at once`, async () => {
    const limit = (MAX_TRANSITIONS_PER_STEP - OTHERS - 1) / 2;

    const order = await play(counting, { variables: { n: 0, limit } });

    expect(order.open).toEqual(["task after"]);
  });

  test("continues in the next step when it needs one more", async () => {
    const limit = (MAX_TRANSITIONS_PER_STEP - OTHERS + 1) / 2;
    const order = await play(counting, { variables: { n: 0, limit } });

    const { open } = order;
    const rounds = await order.goOn();

    expect(open).toEqual(["continuation process"]);
    expect(rounds).toBe(1);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({ n: limit, limit });
    expect(order.trail).toContain("continued");
  });

  test("leaves no moves in the state once they are made", async () => {
    const order = await play(counting, { variables: { n: 0, limit: MAX_TRANSITIONS_PER_STEP } });
    const during = order.instance.state;

    await order.goOn();

    expect(during).toHaveProperty("todo");
    expect(order.instance.state).not.toHaveProperty("todo");
  });

  test("neither delays nor is delayed by other facts", async () => {
    const definition = aProcess(
      [
        aStart(),
        aScript("count", "n = n + 1"),
        aChoice("more", "more -> after"),
        aTask("after"),
        aTask("beside"),
        aTask("next"),
      ],
      [
        "start -> beside -> next",
        "start -> count -> more",
        "more -> count if n < limit",
        "more -> after",
      ],
    );
    const order = await play(definition, { variables: { n: 0, limit: 600 } });

    await order.complete("beside");
    const { open } = order;
    await order.goOn();

    expect(open).toEqual(["continuation process", "task next"]);
    expect(order.open).toEqual(["task next", "task after"]);
  });
});

describe("a loop that never waits", () => {
  const endless = aProcess(
    [
      aStart(),
      aScope(
        "sub",
        [aStart("in"), aPass("a"), aChoice("b", "b -> a"), aTask("out")],
        ["in -> a -> b", "b -> out if stop = true", "b -> a"],
      ),
      aBoundaryTimer("late", { on: "sub", duration: "PT1H" }),
      aTask("rescue"),
    ],
    ["start -> sub", "late -> rescue"],
  );

  test(`R23: is stopped by an incident after ${MAX_CONTINUATIONS} continuations`, async () => {
    const order = await play(endless);

    const rounds = await order.goOn();

    expect(rounds).toBe(MAX_CONTINUATIONS);
    expect(order.open).toEqual(["timer late", "incident process"]);
    expect(order.incident("process").type).toBe("STEP_LIMIT");
    expect(order.incident("process").message).toContain("Look for a loop");
    expect(order.status).toBe("live");
  });

  test("R23: continues where it stopped when that is resolved", async () => {
    const order = await play(endless);
    await order.goOn();

    await order.resolve("process", { variables: { stop: true } });

    expect(order.open).toEqual(["timer late", "task out"]);
  });

  test("R23: may run into the limit again", async () => {
    const order = await play(endless);
    await order.goOn();

    await order.resolve("process");
    const rounds = await order.goOn();

    expect(rounds).toBe(MAX_CONTINUATIONS);
    expect(order.incident("process").type).toBe("STEP_LIMIT");
  });

  test.each([0, 3, MAX_CONTINUATIONS])(
    "ends with the scope that it runs in, after %i continuations",
    async (rounds) => {
      const order = await play(endless);
      for (let round = 0; round < rounds; round += 1) {
        const { id } = order.instance.tickets.find(({ on }) => on === "continuation") ?? { id: "" };
        await order.deliver({ kind: "continued", ticket: id });
      }

      await order.fire("late");

      expect(order.open).toEqual(["task rescue"]);
      expect(order.instance.state).not.toHaveProperty("todo");
    },
  );

  test("F7: is cancelled like anything else", async () => {
    const order = await play(endless);

    await order.cancel();

    expect(order.status).toBe("cancelled cancel");
    expect(order.instance.tickets).toEqual([]);
  });
});

describe("more waits than all continuations of a step may open", () => {
  const MOST = MAX_WAITS_PER_STEP * (MAX_CONTINUATIONS + 1);

  /** This many sub-processes, one after the other, each with a wait on its boundary. */
  const guarded = (count: number) => {
    const ids = Array.from({ length: count }, (_, at) => `s${at}`);
    return aProcess(
      [
        aStart(),
        ...ids.flatMap((id) => [
          aScope(id, [aStart(`in-${id}`), aPass(`pass-${id}`)], [`in-${id} -> pass-${id}`]),
          aBoundarySignal(`b-${id}`, { on: id, name: "closed" }),
        ]),
        aTask("last"),
      ],
      [["start", ...ids, "last"].join(" -> ")],
    );
  };

  test("R23: raise an incident, and continue when it is resolved", async () => {
    const order = await play(guarded(MOST + 1));
    await order.goOn();
    const { type, message } = order.incident("process");

    await order.resolve("process");
    await order.goOn();

    expect(type).toBe("STEP_LIMIT");
    expect(message).toContain(`More than ${MOST} waits for signals and messages`);
    expect(order.open).toEqual(["task last"]);
  });

  test("R23: raise no incident up to that number", async () => {
    const order = await play(guarded(MOST));

    await order.goOn();

    expect(order.open).toEqual(["task last"]);
  });
});
