// The proof of lib/kernel/graph/interrupt.ts: an interrupted scope leaves nothing armed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { draftOf } from "../../../lib/kernel/draft.ts";
import { interrupt } from "../../../lib/kernel/graph/interrupt.ts";
import { planOf } from "../../../lib/kernel/graph/plan.ts";
import { openRun } from "../../../lib/kernel/graph/run.ts";
import { parseState, ROOT } from "../../../lib/kernel/graph/state.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import {
  aBoundaryTimer,
  aProcess,
  aScope,
  aStart,
  aTask,
  aTimer,
} from "../../support/graph-builder.ts";
import { givenAt, play } from "../../support/play.ts";
import { aRandomGraph } from "../../support/random-graph.ts";
import { shaken } from "../../support/shaken.ts";

const deep = aProcess(
  [
    aStart(),
    aScope(
      "outer",
      [
        aStart("o"),
        aScope(
          "inner",
          [
            aStart("i"),
            aTask("a"),
            aBoundaryTimer("a-late", { on: "a", duration: "PT1H" }),
            aTimer("b", { duration: "PT2H" }),
            aTask("c", { retries: "0" }),
          ],
          ["i -> a", "i -> b", "i -> c"],
        ),
        aBoundaryTimer("inner-often", { on: "inner", cycle: "R/PT5M", interrupting: false }),
        aTask("d"),
      ],
      ["o -> inner", "o -> d"],
    ),
    aBoundaryTimer("outer-late", { on: "outer", duration: "PT3H" }),
    aTask("rescue"),
    aTask("beside"),
  ],
  ["start -> outer", "start -> beside", "outer-late -> rescue"],
);

describe("an interrupted scope", () => {
  test("leaves nothing armed: tasks, timers, boundary timers and incidents at any depth", async () => {
    const order = await play(deep);
    const armed = order.open.toSorted();

    await order.fire("outer-late");

    expect(armed).toEqual(
      [
        "incident c",
        "task a",
        "task beside",
        "task d",
        "timer a-late",
        "timer b",
        "timer inner-often",
        "timer outer-late",
      ].toSorted(),
    );
    expect(order.open).toEqual(["task beside", "task rescue"]);
  });

  test("is in the history after everything inside it", async () => {
    const order = await play(deep);

    await order.fire("outer-late");

    const ended = order.trail.filter((line) => line.startsWith("element-terminated"));
    expect(ended.map((line) => line.split(" ")[1])).toEqual(["c", "b", "a", "d", "inner", "outer"]);
  });

  test("ignores late outcomes", async () => {
    const order = await play(deep);
    const { tickets } = order.instance;
    await order.fire("outer-late");
    const after = order.instance;
    order.now += 24 * 3_600_000;

    for (const { id: ticket, element } of tickets.filter(({ element }) => element !== "beside")) {
      await order.deliver({ kind: "timer-due", ticket });
      await order.deliver({ kind: "task-completed", ticket, variables: { late: element } });
      await order.deliver({ kind: "incident-resolved", ticket });
    }

    expect(order.instance).toBe(after);
  });

  test("leaves no ticket of a closed token, whatever the graph and the interrupted token", async () => {
    await fc.assert(
      fc.asyncProperty(
        aRandomGraph,
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.nat(),
        async (definition, choices, pick) => {
          const instance = await shaken(definition, choices);
          fc.pre(instance.status === "live");
          const run = openRun(planOf(definition), draftOf(instance, givenAt(instance.lastNow)));
          const tokens = [...run.tokens.values()].filter(({ id }) => id !== ROOT);
          const token = tokens[pick % tokens.length];
          fc.pre(token !== undefined);

          interrupt(run, token);

          const alive = new Set(run.tokens.keys());
          expect(alive.has(token.id)).toBe(false);
          expect([...run.tokens.values()].filter((left) => !alive.has(left.in))).toEqual([]);
          expect(run.draft.tickets.filter(({ ref }) => !alive.has(ref))).toEqual([]);
          const untouched = instance.tickets.filter(({ ref }) => alive.has(ref));
          expect(run.draft.tickets).toEqual(untouched);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("leaves none after any step of any graph, and an ended instance has none at all", async () => {
    await fc.assert(
      fc.asyncProperty(
        aRandomGraph,
        fc.array(fc.nat(), { maxLength: 12 }),
        async (definition, choices) => {
          await shaken(definition, choices, (instance) => expect(residue(instance)).toEqual([]));
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Tickets without an open token. */
function residue({ state, tickets, status }: Instance): readonly unknown[] {
  // The process is open even before its start could be decided.
  const alive = new Set([ROOT, ...parseState(state).tokens.map(({ id }) => id)]);
  return status === "live" ? tickets.filter(({ ref }) => !alive.has(ref)) : tickets;
}
