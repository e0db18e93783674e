import { describe, expect, test } from "vitest";
import { MAX_CALL_DEPTH, MAX_ELEMENT_ID_LENGTH } from "../../../lib/definition/limits.ts";
import type { ChildEnded } from "../../../lib/kernel/fact.ts";
import type { ChildTicket, Parent } from "../../../lib/kernel/instance.ts";
import {
  aBoundaryError,
  aBoundaryMessage,
  aBoundaryTimer,
  aCall,
  anEnd,
  anErrorEnd,
  aProcess,
  aScope,
  aStart,
  aTask,
  type Piece,
} from "../../support/graph-builder.ts";
import { committed, type Play, play } from "../../support/play.ts";

/** `call`, with its boundary events, and a task after each. */
const calling = (call: Piece, ...border: readonly Piece[]) => {
  const ids = border.flatMap(({ nodes }) => nodes.map(({ id }) => id));
  return aProcess(
    [aStart(), call, ...border, aTask("after"), ...ids.map((id) => aTask(`${id}!`))],
    ["start -> call -> after", ...ids.map((id) => `${id} -> ${id}!`)],
  );
};

function callOf(order: Play): ChildTicket {
  const found = order.instance.tickets.find((ticket) => ticket.on === "child");
  if (found?.on !== "child") throw new Error(`no call is open: ${order.open.join(", ")}`);
  return found;
}

const ends = (order: Play, how: Partial<ChildEnded> = {}) =>
  order.deliver({
    kind: "child-ended",
    ticket: callOf(order).id,
    childId: "child",
    status: "succeeded",
    terminationKind: "success",
    result: {},
    ...how,
  });

const fails = (
  order: Play,
  error?: ChildEnded["error"],
  kind: "failure" | "timeout" = "failure",
) => {
  const failed = { status: "failed", terminationKind: kind } as const;
  return order.deliver({
    kind: "child-ended",
    ticket: callOf(order).id,
    childId: "child",
    ...failed,
    ...(error && { error }),
  });
};

/** A child of another instance; its parent catches these. */
const asChild = (parent: Partial<Parent> = {}) => ({
  parent: { instanceId: "above", ticket: "c1.1", depth: 1, ...parent },
});

describe("a call", () => {
  test("F57 keeps the variables that it passes as they were when it was made", async () => {
    const order = await play(calling(aCall("call", { process: "=which" })), {
      variables: { which: "invoice", n: 1 },
    });

    expect(callOf(order)).toMatchObject({
      id: "c1.1",
      process: "invoice",
      variables: { which: "invoice", n: 1 },
    });
    expect(callOf(order)).not.toHaveProperty("catches");
  });

  test("F57 passes only its own variables if specified", async () => {
    const bare = await play(calling(aCall("call", { passesAll: false })), { variables: { n: 1 } });
    const mapped = await play(
      calling(aCall("call", { passesAll: false, inputs: { m: "=n + 1" } })),
      { variables: { n: 1 } },
    );

    const inputOf = (order: Play) => order.program.runner.callInput(order.instance, callOf(order));
    expect(inputOf(bare)).toEqual({});
    expect(inputOf(mapped)).toEqual({ m: 2 });
  });

  test("F57 takes everything, or what is mapped, or nothing", async () => {
    const all = await play(calling(aCall("call")));
    const mapped = await play(calling(aCall("call", { outputs: { total: "=n + 1" } })));
    const nothing = await play(calling(aCall("call", { takesAll: false })));

    for (const order of [all, mapped, nothing]) await ends(order, { result: { n: 41 } });

    expect([all, mapped, nothing].map(({ variables }) => variables)).toEqual([
      { n: 41 },
      { total: 42 },
      {},
    ]);
    expect(all.open).toEqual(["task after"]);
  });

  test("F57 also takes what its input mappings gave to the child", async () => {
    const order = await play(
      calling(aCall("call", { passesAll: false, inputs: { only: "=n + 1" } })),
      { variables: { n: 1 } },
    );

    await ends(order, { result: { ...callOf(order).variables, y: 3 } });

    expect(order.variables).toEqual({ n: 1, only: 2, y: 3 });
  });

  test("takes a result that is not an object under the name result", async () => {
    const listed = await play(calling(aCall("call")));
    const none = await play(calling(aCall("call")));

    await ends(listed, { result: [1] });
    await none.deliver({
      kind: "child-ended",
      ticket: callOf(none).id,
      childId: "child",
      status: "succeeded",
      terminationKind: "success",
    });

    expect([listed.variables, none.variables]).toEqual([{ result: [1] }, { result: null }]);
  });

  test("that its definition no longer has is an incident", async () => {
    const order = await play(calling(aCall("call")));
    const state = JSON.parse(JSON.stringify(order.instance.state));
    state.tokens[1].node = "after";
    order.instance = committed({ ...order.instance, state });

    await ends(order);

    expect(order.incident("call").message).toContain('"after" of process calls nothing');
  });

  test("S4 takes one result: a second outcome of its child changes nothing", async () => {
    const order = await play(calling(aCall("call")));
    const { id } = callOf(order);
    await ends(order, { result: { n: 1 } });

    const again = await order.decide({
      kind: "child-ended",
      ticket: id,
      childId: "child",
      status: "succeeded",
      terminationKind: "success",
      result: { n: 2 },
    });

    expect(again.changed).toBe(false);
  });

  test("ignores outcomes of other children", async () => {
    const order = await play(
      calling(aCall("call"), aBoundaryTimer("late", { on: "call", duration: "PT1H" })),
    );
    const { id } = callOf(order);
    const timer = order.timer("late").id;

    const facts = [
      { kind: "child-started", ticket: id, childId: "child" },
      { kind: "child-refused", ticket: timer, message: "no" },
      { kind: "child-started", ticket: timer, childId: "child" },
      { kind: "task-completed", ticket: id, variables: {} },
    ] as const;

    for (const fact of facts) expect((await order.decide(fact)).changed).toBe(false);
    const ended = { status: "failed", terminationKind: "failure", childId: "child" } as const;
    const wrong = await order.decide({ kind: "child-ended", ticket: timer, ...ended });
    expect(wrong.changed).toBe(false);
  });

  test.each(["", "x".repeat(MAX_ELEMENT_ID_LENGTH + 1)])(
    "of a process that cannot be called is an incident: %#",
    async (which) => {
      const order = await play(calling(aCall("call", { process: "=which" })), {
        variables: { which },
      });

      expect(order.incident("call")).toMatchObject({ type: "EXTRACT_VALUE_ERROR" });
    },
  );

  test("is limited in depth unless it is detached", async () => {
    const at = await play(calling(aCall("call")), asChild({ depth: MAX_CALL_DEPTH - 1 }));
    const past = await play(calling(aCall("call")), asChild({ depth: MAX_CALL_DEPTH }));
    const detached = await play(
      calling(aCall("call", { detached: true })),
      asChild({ depth: MAX_CALL_DEPTH }),
    );

    expect([at, past, detached].map(({ open }) => open)).toEqual([
      ["child call"],
      ["incident call"],
      ["child call"],
    ]);
    expect(past.incident("call").type).toBe("CALLED_ELEMENT_ERROR");
  });

  test("keeps its version binding", async () => {
    const order = await play(calling(aCall("call", { binding: { tag: "1" } })));

    expect(callOf(order).binding).toEqual({ tag: "1" });
  });

  test("whose boundary event waits for a taken message is not made", async () => {
    const border = aBoundaryMessage("recall", { on: "call", name: "recall" });

    const order = await play(calling(aCall("call"), border), { taken: ["recall/"] });

    expect(order.open).toEqual(["incident call"]);
  });
});

describe("a child that has not succeeded", () => {
  test("F57 throws its error from the call, with the thrown variables", async () => {
    const order = await play(
      calling(aCall("call"), aBoundaryError("caught", { on: "call", code: "BAD" })),
    );

    await fails(order, { code: "BAD", message: "rain", variables: { mm: 3 } });

    expect(order.open).toEqual(["task caught!"]);
    expect(order.trail).toContain("child-ended call");
  });

  test.each([
    [undefined, "failure", "CHILD_FAILED"],
    [{ message: "too late" }, "timeout", "CHILD_TIMED_OUT"],
  ] as const)("throws a code for the way it ended: %o, %s", async (error, kind, code) => {
    const order = await play(
      calling(aCall("call"), aBoundaryError("caught", { on: "call", code })),
    );

    await fails(order, error, kind);

    expect(order.open).toEqual(["task caught!"]);
  });

  test("throws that it was cancelled", async () => {
    const order = await play(
      calling(aCall("call"), aBoundaryError("caught", { on: "call", code: "CHILD_CANCELLED" })),
    );

    await ends(order, { status: "cancelled", terminationKind: "cancel" });

    expect(order.open).toEqual(["task caught!"]);
  });

  test("F68 is an incident at the call if it is not caught; resolving calls again", async () => {
    const order = await play(calling(aCall("call")), { variables: { n: 1 } });
    const { id } = callOf(order);
    await fails(order);
    const { type, message } = order.incident("call");

    await order.resolve("call", { variables: { n: 2 } });

    expect({ type, message }).toEqual({
      type: "UNHANDLED_ERROR_EVENT",
      message: expect.stringMatching(/CHILD_FAILED.*child has not succeeded/),
    });
    expect(callOf(order).id).not.toBe(id);
    expect(callOf(order).variables).toEqual({ n: 2 });
  });

  test("because it never started is an incident; resolving calls again", async () => {
    const order = await play(calling(aCall("call")));
    const { id } = callOf(order);
    await order.deliver({ kind: "child-refused", ticket: id, message: "no such process" });
    const { type, message } = order.incident("call");

    await order.resolve("call");

    expect([type, message]).toEqual(["CALLED_ELEMENT_ERROR", "no such process"]);
    expect(order.open).toEqual(["child call"]);
  });
});

describe("the error codes that a call passes as caught", () => {
  const inScope = (...border: readonly Piece[]) =>
    aProcess(
      [
        aStart(),
        aScope(
          "sub",
          [aStart("in"), aCall("call"), aBoundaryError("near", { on: "call", code: "NEAR" })],
          ["in -> call"],
        ),
        aBoundaryTimer("late", { on: "sub", duration: "PT1H" }),
        aBoundaryError("far", { on: "sub", code: "FAR" }),
        ...border,
      ],
      ["start -> sub"],
    );

  test("F57 are those of its boundary events, of the scopes around it, and of its own callers", async () => {
    const order = await play(inScope(), asChild({ catches: ["ABOVE", "NEAR"] }));

    expect(callOf(order).catches).toEqual(["ABOVE", "NEAR", "FAR"]);
  });

  test("F57 are all codes if there is a catch-all, here or above", async () => {
    const here = await play(inScope(aBoundaryError("all", { on: "sub" })));
    const above = await play(inScope(), asChild({ catches: "all" }));

    expect([callOf(here).catches, callOf(above).catches]).toEqual(["all", "all"]);
  });

  test("are none if it is detached", async () => {
    const order = await play(
      calling(aCall("call", { detached: true }), aBoundaryError("all", { on: "call" })),
    );

    expect(callOf(order)).not.toHaveProperty("catches");
  });
});

describe("an error in a child", () => {
  const work = aProcess(
    [aStart(), aTask("work"), aTask("beside")],
    ["start -> work", "start -> beside"],
  );

  test.each([["all"], [["BAD"]]] as const)(
    "F57 that a caller above catches ends it, failed with that error: %o",
    async (catches) => {
      const order = await play(work, asChild({ catches }));

      const { instance } = await order.fail("work", {
        code: "BAD",
        message: "rain",
        variables: { mm: 3 },
      });

      expect(order.status).toBe("failed failure");
      expect(order.instance.error).toEqual({
        code: "BAD",
        message: "rain",
        element: "work",
        variables: { mm: 3 },
      });
      expect(instance.outbox.map(({ effect }) => effect.kind)).toContain("notify-parent");
      expect(order.open).toEqual([]);
    },
  );

  test("F68 that no caller catches stays an incident", async () => {
    const order = await play(work, asChild({ catches: ["OTHER"] }));

    await order.fail("work", { code: "BAD" });

    expect(order.open).toEqual(["task beside", "incident work"]);
  });

  test("F57 of an error end event does the same, without variables", async () => {
    const order = await play(
      aProcess([aStart(), anErrorEnd("bad", "BAD")], ["start -> bad"]),
      asChild({ catches: "all" }),
    );

    expect(order.instance.error).toEqual({ code: "BAD", message: "", element: "bad" });
  });
});

describe("the end of a child", () => {
  const process = aProcess([aStart(), anEnd()], ["start -> end"]);
  const effects = (order: Play) => order.instance.outbox.map(({ effect }) => effect.kind);

  test("S4 is owed to its parent", async () => {
    const order = await play(process, { ...asChild(), holdsBack: true });

    expect(effects(order)).toContain("notify-parent");
  });

  test("is not reported if it is detached", async () => {
    const order = await play(process, { ...asChild({ detached: true }), holdsBack: true });

    expect(effects(order)).not.toContain("notify-parent");
  });
});

describe("a call that is interrupted", () => {
  test("F7 F57 leaves an effect that cancels its child", async () => {
    const order = await play(
      calling(aCall("call"), aBoundaryTimer("late", { on: "call", duration: "PT1H" })),
      { holdsBack: true },
    );
    const { id } = callOf(order);

    await order.fire("late");

    expect(order.instance.outbox.map(({ effect }) => effect)).toEqual([
      { kind: "cancel-child", ticket: id },
    ]);
    expect(order.open).toEqual(["task late!"]);
  });

  test("leaves a detached child alone", async () => {
    const order = await play(calling(aCall("call", { detached: true })), { holdsBack: true });

    await order.cancel();

    expect(order.instance.outbox.map(({ effect }) => effect.kind)).not.toContain("cancel-child");
  });
});

describe("a detached call", () => {
  test("R13 continues as soon as its child exists, and knows its id", async () => {
    const silent = await play(calling(aCall("call", { detached: true })));
    const told = await play(
      calling(aCall("call", { detached: true, outputs: { begun: "=childInstanceId" } })),
    );

    for (const order of [silent, told]) {
      const { id: ticket } = callOf(order);
      const early = { status: "succeeded", terminationKind: "success", childId: "c" } as const;
      expect((await order.decide({ kind: "child-ended", ticket, ...early })).changed).toBe(false);
      await order.deliver({ kind: "child-started", ticket, childId: "c" });
    }

    expect([silent.variables, told.variables]).toEqual([{}, { begun: "c" }]);
    expect(told.open).toEqual(["task after"]);
    expect(told.trail).toContain("child-started call");
  });
});
