import { describe, expect, test } from "vitest";
import { MAX_NAME_LENGTH, MAX_WAITS_PER_STEP } from "../../../lib/definition/limits.ts";
import {
  aBoundaryError,
  aBoundaryMessage,
  aBoundarySignal,
  aBoundaryTimer,
  aFork,
  aMessageCatch,
  anErrorEnd,
  anEventGateway,
  aPass,
  aProcess,
  aScope,
  aSignalCatch,
  aStart,
  aTask,
  aTimer,
  type Piece,
} from "../../support/graph-builder.ts";
import { type Play, play } from "../../support/play.ts";

const through = (piece: Piece, ...more: readonly Piece[]) =>
  aProcess([aStart(), piece, ...more, aTask("after")], ["start -> wait -> after"]);

describe("a wait for a signal", () => {
  test("has the name that is written or computed, fixed when it opens", async () => {
    const fixed = await play(through(aSignalCatch("wait", "closed")));
    const computed = await play(through(aSignalCatch("wait", '="closed-" + shop')), {
      variables: { shop: "a" },
    });

    expect(fixed.waitForSignal("wait")).toMatchObject({ id: "w1.1", on: "signal", name: "closed" });
    expect(computed.waitForSignal("wait").name).toBe("closed-a");
  });

  test("merges the payload like a result", async () => {
    const order = await play(through(aSignalCatch("wait", "closed")));

    await order.signal("wait", { payload: { reason: "flood" } });

    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({ reason: "flood" });
  });

  test("F36: ignores what was broadcast before it opened", async () => {
    const order = await play(through(aSignalCatch("wait", "closed")));
    const ticket = { ...order.waitForSignal("wait"), row: { after: 7, epoch: 1 } };
    order.instance = { ...order.instance, tickets: [ticket] };

    const early = await order.signal("wait", { seq: 7 });
    const next = await order.signal("wait", { seq: 8 });

    expect(early.changed).toBe(false);
    expect(next.changed).toBe(true);
    expect(order.open).toEqual(["task after"]);
  });
});

describe("a wait for a message", () => {
  test.each([
    ["text", '="o-1"', "o-1"],
    ["a number, as text", "=order", "42"],
    ["text that is written down", "o-2", "o-2"],
  ])("has %s as its key", async (_, key, expected) => {
    const order = await play(through(aMessageCatch("wait", "paid", key)), {
      variables: { order: 42 },
    });

    expect(order.waitForMessage("wait")).toMatchObject({ name: "paid", key: expected });
  });

  test("without a key uses the mailbox of the name alone", async () => {
    const order = await play(through(aMessageCatch("wait", "paid")));

    expect(order.waitForMessage("wait")).toMatchObject({ name: "paid", key: "" });
  });

  test("maps the payload if it says so", async () => {
    const order = await play(
      through(aMessageCatch("wait", "paid", undefined, { outputs: { sum: "=amount" } })),
    );

    await order.message("wait", { amount: 3, note: "x" });

    expect(order.variables).toEqual({ sum: 3 });
  });

  test("F45: whose key is missing is an incident that says so, and opens nothing", async () => {
    const order = await play(
      through(
        aMessageCatch("wait", "paid", "=order"),
        aBoundaryTimer("late", { on: "wait", duration: "PT1H" }),
      ),
    );
    const { open } = order;
    const { type, message } = order.incident("wait");

    await order.resolve("wait", { variables: { order: 42 } });

    expect(open).toEqual(["incident wait"]);
    expect(type).toBe("EXTRACT_VALUE_ERROR");
    expect(message).toContain("`order` gave null where a string or a number is needed");
    expect(order.open).toEqual(["timer late", "message wait"]);
  });

  test("F45: of a boundary event whose key is missing stops the host before it starts", async () => {
    const order = await play(
      through(aTask("wait"), aBoundaryMessage("stop", { on: "wait", name: "stop", key: "=order" })),
    );

    expect(order.open).toEqual(["incident wait"]);
    expect(order.incident("wait").type).toBe("EXTRACT_VALUE_ERROR");
  });
});

describe("a name or a key", () => {
  const longest = "n".repeat(MAX_NAME_LENGTH);

  test("may be as long as the limit says", async () => {
    const signal = await play(through(aSignalCatch("wait", longest)));
    const message = await play(through(aMessageCatch("wait", longest, longest)));

    expect(signal.open).toEqual(["signal wait"]);
    expect(message.open).toEqual(["message wait"]);
  });

  test.each([
    ["a name that is too long", aSignalCatch("wait", `${longest}n`), "256 characters, 255 is the"],
    ["a name that is empty", aSignalCatch("wait", '=""'), "must not be empty"],
    ["a name that is no text", aMessageCatch("wait", "=7"), "where a string is needed"],
    ["a key that is too long", aMessageCatch("wait", "m", `${longest}n`), "The correlation key of"],
  ])("F45: is refused with a clear error: %s", async (_, piece, said) => {
    const order = await play(through(piece));

    expect(order.incident("wait")).toMatchObject({ type: "EXTRACT_VALUE_ERROR", phase: "enter" });
    expect(order.incident("wait").message).toContain(said);
  });

  test.each([
    [
      "half of a surrogate pair",
      "a\ud800",
      'half of a surrogate pair, which is no character: "a\\ud800"',
    ],
    ["NUL", "a\0", 'a NUL character, which no name can hold: "a\\u0000"'],
  ])("F45: is refused when it has %s, in a signal, a message or a key", async (_, text, said) => {
    for (const piece of [
      aSignalCatch("wait", "=text"),
      aMessageCatch("wait", "=text"),
      aMessageCatch("wait", "m", "=text"),
    ]) {
      const order = await play(through(piece), { variables: { text } });
      const refused = order.incident("wait");
      await order.resolve("wait", { variables: { text: "fine \ud83d\ude00" } });

      expect(refused).toMatchObject({ type: "EXTRACT_VALUE_ERROR", phase: "enter" });
      expect(refused.message).toContain(said);
      expect(order.open).toEqual([expect.stringMatching(/^(signal|message) wait$/)]);
    }
  });
});

describe("a second wait for the same message and key", () => {
  const waiting = through(aMessageCatch("wait", "paid", "=order"));
  const elsewhere = { variables: { order: 42 }, taken: ["paid/42"] };

  test("F46: of another instance is an incident that names both and says what to do", async () => {
    const order = await play(waiting, elsewhere);

    const { type, message, phase } = order.incident("wait");

    expect(order.open).toEqual(["incident wait"]);
    expect({ type, phase }).toEqual({ type: "UNHANDLED_ERROR_EVENT", phase: "enter" });
    expect(message).toContain('"correlation-taken"');
    expect(message).toContain('the message "paid" with the key "42"');
    expect(message).toContain('the process "process"');
    expect(message).toContain("then resolve this");
  });

  test("F46: says so of a message without a key too", async () => {
    const order = await play(through(aMessageCatch("wait", "paid")), { taken: ["paid/"] });

    expect(order.incident("wait").message).toContain('the message "paid" without a key');
  });

  test("F46: may open once the first is closed, or with another key", async () => {
    const first = await play(waiting, elsewhere);
    const second = await play(waiting, elsewhere);

    first.taken.clear();
    await first.resolve("wait");
    await second.resolve("wait", { variables: { order: 43 } });

    expect(first.waitForMessage("wait").key).toBe("42");
    expect(second.waitForMessage("wait").key).toBe("43");
  });

  test("F46: is refused again while the first is still open", async () => {
    const order = await play(waiting, elsewhere);

    await order.resolve("wait");

    expect(order.open).toEqual(["incident wait"]);
  });

  test("F46: can be caught as an error, and nothing of the element is left open", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aMessageCatch("wait", "paid", "=order"),
          aBoundaryTimer("late", { on: "wait", duration: "PT1H" }),
          aBoundarySignal("stop", { on: "wait", name: "stop" }),
          aBoundaryError("taken", { on: "wait", code: "correlation-taken" }),
          aTask("mend"),
        ],
        ["start -> wait", "taken -> mend"],
      ),
      elsewhere,
    );

    expect(order.open).toEqual(["task mend"]);
    expect(order.input("mend")).toEqual({ order: 42 });
    expect(order.trail.slice(-6)).toEqual([
      "error-caught taken",
      "element-terminated wait",
      "element-entered taken",
      "element-completed taken",
      "flow-taken taken -> mend",
      "element-entered mend",
    ]);
  });

  test.each([
    ["a task", aTask("wait")],
    ["a scope", aScope("wait", [aStart("in"), aTask("inner")], ["in -> inner"])],
  ])("F46: on the boundary of %s is thrown from its host, which never starts", async (_, host) => {
    const order = await play(
      aProcess(
        [
          aStart(),
          host,
          aBoundaryTimer("late", { on: "wait", duration: "PT1H" }),
          aBoundaryMessage("paid", { on: "wait", name: "paid", key: "=order" }),
          aBoundaryError("taken", { on: "wait", code: "correlation-taken" }),
          aTask("mend"),
        ],
        ["start -> wait", "taken -> mend"],
      ),
      elsewhere,
    );

    expect(order.open).toEqual(["task mend"]);
    expect(order.active).toEqual(["mend"]);
  });

  test("F46: behind an event-based gateway is caught by the scope around it", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aScope(
            "around",
            [
              aStart("in"),
              anEventGateway("first"),
              aSignalCatch("a", "closed"),
              aMessageCatch("b", "paid", "=order"),
            ],
            ["in -> first", "first -> a", "first -> b"],
          ),
          aBoundaryError("taken", { on: "around" }),
          aTask("mend"),
        ],
        ["start -> around", "taken -> mend"],
      ),
      elsewhere,
    );

    expect(order.open).toEqual(["task mend"]);
  });

  test("F46: in another branch of the same instance is refused as well", async () => {
    const order = await play(
      aProcess(
        [aStart(), aFork("both"), aMessageCatch("a", "paid"), aMessageCatch("b", "paid")],
        ["start -> both -> a", "both -> b"],
      ),
    );

    expect(order.open).toEqual(["message a", "incident b"]);
  });

  test("F46: of one element is refused as well", async () => {
    const order = await play(
      through(aMessageCatch("wait", "paid"), aBoundaryMessage("b", { on: "wait", name: "paid" })),
    );

    expect(order.open).toEqual(["incident wait"]);
  });

  test("F47: is allowed when it follows the first in a loop", async () => {
    const order = await play(
      aProcess([aStart(), aMessageCatch("wait", "paid")], ["start -> wait -> wait"]),
    );
    const { id } = order.waitForMessage("wait");

    await order.message("wait");

    expect(order.open).toEqual(["message wait"]);
    expect(order.waitForMessage("wait").id).not.toBe(id);
  });
});

describe("a non-interrupting boundary event", () => {
  const watched = (piece: Piece) =>
    aProcess([aStart(), aTask("work"), piece, aTask("note")], ["start -> work", "call -> note"]);
  const signals = watched(
    aBoundarySignal("call", { on: "work", name: "call", interrupting: false }),
  );

  test("stays open for messages and leaves its host alone", async () => {
    const order = await play(
      watched(aBoundaryMessage("call", { on: "work", name: "call", interrupting: false })),
    );
    const ticket = order.waitForMessage("call");

    await order.message("call", { n: 1 }, "m1");
    await order.message("call", { n: 2 }, "m2");

    expect(ticket.stays).toBe(true);
    expect(order.waitForMessage("call")).toEqual(ticket);
    expect(order.open).toEqual(["message call", "task work", "task note", "task note"]);
    expect(order.variables).toEqual({ n: 2 });
  });

  test("takes each broadcast once, in whatever order they come", async () => {
    const order = await play(signals);
    const { id } = order.waitForSignal("call");

    for (const seq of [3, 1, 3, 2, 1, 5]) await order.signal("call", { seq });

    expect(order.waitForSignal("call")).toMatchObject({ id, taken: { low: 3, above: [[5, 5]] } });
    expect(order.open.filter((open) => open === "task note")).toHaveLength(4);
  });

  test("keeps the lease of its ticket, and the position of its row, when a signal comes", async () => {
    const order = await play(signals);
    const lease = { trigger: "start", owner: "me", expiresAt: order.instance.lastNow };
    const row = { after: 0, epoch: 1 };
    const tickets = order.instance.tickets.map((ticket) => ({ ...ticket, lease, row }));
    order.instance = { ...order.instance, tickets } as typeof order.instance;

    await order.signal("call");

    expect(order.waitForSignal("call")).toMatchObject({ lease, row, taken: { low: 1, above: [] } });
  });

  test("is closed with its host", async () => {
    const order = await play(signals);
    await order.signal("call");

    await order.complete("work");

    expect(order.open).toEqual(["task note"]);
  });
});

describe("a step that opens many waits", () => {
  const wide = (count: number) => {
    const ids = Array.from({ length: count }, (_, at) => `w${at}`);
    return aProcess(
      [aStart(), ...ids.map((id) => aSignalCatch(id, "closed"))],
      ids.map((id) => `start -> ${id}`),
    );
  };

  test("opens as many as the limit allows and continues in the next step", async () => {
    const order = await play(wide(MAX_WAITS_PER_STEP + 5));
    const { open } = order;

    await order.goOn();

    expect(open.filter((each) => each.startsWith("signal"))).toHaveLength(MAX_WAITS_PER_STEP);
    expect(open.at(-1)).toBe("continuation process");
    expect(order.open).toHaveLength(MAX_WAITS_PER_STEP + 5);
  });

  test("below the limit needs no continuation", async () => {
    const order = await play(wide(MAX_WAITS_PER_STEP));

    expect(order.open).not.toContain("continuation process");
  });

  /** A task with as many interrupting boundary events, the half of them for messages. */
  const guarded = (id: string, count: number): readonly Piece[] => [
    aTask(id),
    aBoundaryTimer(`${id}-late`, { on: id, duration: "PT1H" }),
    aBoundaryError(`${id}-bad`, { on: id }),
    ...Array.from({ length: count }, (_, at) => {
      const border = `${id}-${at}`;
      return at % 2 === 0
        ? aBoundarySignal(border, { on: id, name: border })
        : aBoundaryMessage(border, { on: id, name: border });
    }),
  ];
  const racing = (id: string, count: number) => {
    const behind = Array.from({ length: count }, (_, at) => `${id}-${at}`);
    const pieces = behind.map((each) => aSignalCatch(each, each));
    return [[anEventGateway(id), ...pieces], behind.map((each) => `${id} -> ${each}`)] as const;
  };
  const named = (order: Play) =>
    order.instance.tickets.filter(({ on }) => on === "signal" || on === "message").length;

  test.each([
    ["boundary events", guarded("second", 11), []],
    [
      "a wait and boundary events",
      [aSignalCatch("second", "s"), ...guarded("second", 10).slice(1)],
      [],
    ],
    ["the events behind a gateway", ...racing("second", 11)],
  ] as const)("stops before %s that would be more than the limit", async (_, second, flows) => {
    const order = await play(
      aProcess(
        [aStart(), ...guarded("first", 20), ...second],
        ["start -> first", "start -> second", ...flows],
      ),
    );
    const during = named(order);

    const rounds = await order.goOn();

    expect([during, rounds, named(order)]).toEqual([20, 1, MAX_WAITS_PER_STEP + 1]);
    expect(order.open).not.toContain("incident second");
  });

  test("opens exactly the limit at once, and what needs no wait continues", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          ...guarded("first", 20),
          ...guarded("second", 10),
          aTimer("t", { duration: "PT1H" }),
        ],
        ["start -> first", "start -> second", "start -> t"],
      ),
    );

    expect(named(order)).toBe(MAX_WAITS_PER_STEP);
    expect(order.open).toContain("timer t");
    expect(order.open).not.toContain("continuation process");
  });

  test("opens more than the limit only for a first element", async () => {
    const flows = ["start -> first", "start -> second", "start -> third"];
    const many = guarded("second", MAX_WAITS_PER_STEP + 5);
    const order = await play(
      aProcess([aStart(), aSignalCatch("first", "s"), ...many, aSignalCatch("third", "s")], flows),
    );
    const counts = [named(order)];

    for (let rounds = 0; rounds < 2; rounds += 1) {
      const { id } = order.instance.tickets.find(({ on }) => on === "continuation") ?? { id: "" };
      await order.deliver({ kind: "continued", ticket: id });
      counts.push(named(order));
    }

    expect(counts).toEqual([1, MAX_WAITS_PER_STEP + 6, MAX_WAITS_PER_STEP + 7]);
  });

  test("does not count what was interrupted before it opened", async () => {
    const inner = [aStart("in"), aSignalCatch("own", "s"), anErrorEnd("bad", "E"), aPass("never")];
    const order = await play(
      aProcess(
        [
          aStart(),
          aScope("sub", inner, ["in -> own", "in -> bad", "in -> never"]),
          aBoundaryError("caught", { on: "sub" }),
          aTask("after"),
        ],
        ["start -> sub", "caught -> after"],
      ),
    );

    expect(order.open).toEqual(["task after"]);
  });
});
