import { describe, expect, test } from "vitest";
import {
  aBoundaryTimer,
  aChoice,
  anEnd,
  aProcess,
  aScope,
  aStart,
  aTask,
  aTimer,
} from "../../support/graph-builder.ts";
import { BEGIN, play } from "../../support/play.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type When = Parameters<typeof aTimer>[1];

const paused = (when: When) =>
  aProcess(
    [aStart(), aTask("before"), aTimer("pause", when), aTask("after")],
    ["start -> before -> pause -> after"],
  );

describe("a timer between two tasks", () => {
  test("F10: waits, then resumes with the variables intact", async () => {
    const order = await play(paused({ duration: "PT1H" }), { variables: { amount: 3 } });
    await order.complete("before", { receipt: "r-1" });
    const { open } = order;

    await order.fire("pause");

    expect(open).toEqual(["timer pause"]);
    expect(order.now).toBe(BEGIN + HOUR);
    expect(order.open).toEqual(["task after"]);
    expect(order.input("after")).toEqual({ amount: 3, receipt: "r-1" });
  });

  test("counts from when it was entered, not from the start", async () => {
    const order = await play(paused({ duration: "PT1H" }));
    order.now = BEGIN + DAY;

    await order.complete("before");

    expect(order.timer("pause").dueAt).toBe(BEGIN + DAY + HOUR);
  });
});

describe("the due instant of a timer", () => {
  const dueOf = async (when: When, variables = {}) => {
    const order = await play(paused(when), { variables });
    await order.complete("before");
    return order.timer("pause").dueAt;
  };

  test.each<[string, When, number]>([
    ["a duration", { duration: "P1DT1H" }, BEGIN + DAY + HOUR],
    ["a computed duration", { duration: '="PT" + string(minutes) + "M"' }, BEGIN + 5 * MINUTE],
    ["a FEEL duration", { duration: '=duration("PT10M")' }, BEGIN + 10 * MINUTE],
    ["a date", { date: "2024-01-02T00:00:00Z" }, BEGIN + DAY],
    ["a date with an offset", { date: "2024-01-02T02:00:00+02:00" }, BEGIN + DAY],
    ["months of a zone", { duration: "P3M", zone: "Europe/Berlin" }, BEGIN + 91 * DAY - HOUR],
  ])("F11: follows %s", async (_, when, due) => {
    expect(await dueOf(when, { minutes: 5 })).toBe(due);
  });

  test.each<[string, When]>([
    ["a date", { date: "2023-12-31T00:00:00Z" }],
    ["a negative duration", { duration: "-P1D" }],
    ["no time at all", { duration: "PT0S" }],
  ])("F11: that has passed, by %s, is due at once", async (_, when) => {
    const order = await play(paused(when));
    await order.complete("before");

    await order.fire("pause");

    expect(order.now).toBe(BEGIN);
    expect(order.open).toEqual(["task after"]);
  });

  test.each<[string, When, string]>([
    ["text that is no duration", { duration: "soon" }, "is not a duration"],
    ["text that is no date", { date: "tomorrow" }, "is not a date and time"],
    ["a number", { duration: "=5" }, "gave a number where a string is needed"],
    ["a missing variable", { duration: "=missing" }, "gave null where a string is needed"],
    ["an unknown zone", { duration: "P1D", zone: "Mars/Base" }, "is not a known time zone"],
  ])("F11: that cannot be read from %s is an incident", async (_, when, message) => {
    const order = await play(paused(when));

    await order.complete("before");

    expect(order.incident("pause")).toMatchObject({ type: "EXTRACT_VALUE_ERROR", phase: "enter" });
    expect(order.incident("pause").message).toContain(message);
  });
});

type BoundaryWhen = When & Readonly<{ interrupting?: boolean }>;

const watched = (when: BoundaryWhen) =>
  aProcess(
    [
      aStart(),
      aTask("pay"),
      aBoundaryTimer("late", { on: "pay", ...when }),
      aTask("remind"),
      aTask("ship"),
    ],
    ["start -> pay -> ship", "late -> remind"],
  );

describe("an interrupting boundary timer", () => {
  test("F12: ends its host and takes its own flow", async () => {
    const order = await play(watched({ duration: "PT1H" }));
    const { id } = order.task("pay");

    await order.fire("late");
    const tooLate = await order.deliver({ kind: "task-completed", ticket: id, variables: {} });

    expect(order.open).toEqual(["task remind"]);
    expect(tooLate.changed).toBe(false);
    expect(order.trail.slice(-6)).toEqual([
      "timer-due late",
      "element-terminated pay",
      "element-entered late",
      "element-completed late",
      "flow-taken late -> remind",
      "element-entered remind",
    ]);
  });

  test("F13: is disarmed when its host finishes first, and a late fire is ignored", async () => {
    const order = await play(watched({ duration: "PT1H" }));
    const { id } = order.timer("late");
    await order.complete("pay");
    order.now = BEGIN + HOUR;

    const tooLate = await order.deliver({ kind: "timer-due", ticket: id });

    expect(order.open).toEqual(["task ship"]);
    expect(tooLate.changed).toBe(false);
  });

  test("on a timer: the one that is due first wins", async () => {
    const definition = aProcess(
      [
        aStart(),
        aTimer("wait", { duration: "PT2H" }),
        aBoundaryTimer("early", { on: "wait", duration: "PT1H" }),
        aTask("a"),
        aTask("b"),
      ],
      ["start -> wait -> a", "early -> b"],
    );
    const one = await play(definition);
    const other = await play(definition);

    await one.fire("early");
    await other.fire("wait");

    expect(one.open).toEqual(["task b"]);
    expect(other.open).toEqual(["task a"]);
  });

  test("on a sub-process: ends all that is inside", async () => {
    const definition = aProcess(
      [
        aStart(),
        aScope("sub", [aStart("in"), aTask("a"), aTask("b")], ["in -> a", "in -> b"]),
        aBoundaryTimer("late", { on: "sub", duration: "PT1H" }),
        aTask("remind"),
      ],
      ["start -> sub", "late -> remind"],
    );
    const order = await play(definition);

    await order.fire("late");

    expect(order.open).toEqual(["task remind"]);
    expect(order.trail).toEqual(
      expect.arrayContaining(["element-terminated a", "element-terminated b"]),
    );
  });

  test("that cannot be computed keeps its host from being entered", async () => {
    const order = await play(watched({ duration: "=patience" }));

    const { open } = order;
    await order.resolve("pay", { variables: { patience: "PT5M" } });

    expect(open).toEqual(["incident pay"]);
    expect(order.open).toEqual(["timer late", "task pay"]);
    expect(order.timer("late").dueAt).toBe(BEGIN + 5 * MINUTE);
  });
});

describe("a non-interrupting boundary timer", () => {
  test("F14: fires, and its host continues", async () => {
    const order = await play(watched({ duration: "PT1H", interrupting: false }));

    await order.fire("late");
    const both = order.open;
    await order.complete("pay");

    expect(both).toEqual(["task pay", "task remind"]);
    expect(order.open).toEqual(["task remind", "task ship"]);
  });

  test("F15: R3 fires three times and no more, each time under a new ticket", async () => {
    const order = await play(watched({ cycle: "R3/PT10M", interrupting: false }));
    const tickets: string[] = [];
    const dues: number[] = [];

    for (let firing = 1; firing <= 3; firing += 1) {
      tickets.push(order.timer("late").id);
      dues.push(order.timer("late").dueAt - BEGIN);
      await order.fire("late");
    }

    expect(new Set(tickets).size).toBe(3);
    expect(dues).toEqual([10 * MINUTE, 20 * MINUTE, 30 * MINUTE]);
    expect(order.open).toEqual(["task pay", "task remind", "task remind", "task remind"]);
  });

  test("F15: unlimited, stops with its host", async () => {
    const order = await play(watched({ cycle: "R/PT10M", interrupting: false }));
    await order.fire("late");
    await order.fire("late");

    await order.complete("pay");

    expect(order.open).toEqual(["task remind", "task remind", "task ship"]);
  });

  test("F15: finite, catches up on each firing that an outage missed", async () => {
    const order = await play(watched({ cycle: "R3/PT10M", interrupting: false }));

    await order.fire("late", 5 * HOUR);
    const next = order.timer("late").dueAt;
    await order.fire("late");
    await order.fire("late");

    expect(next).toBe(BEGIN + 20 * MINUTE);
    expect(order.now).toBe(BEGIN + 10 * MINUTE + 5 * HOUR);
    expect(order.open.filter((line) => line === "task remind")).toHaveLength(3);
  });

  test("F15: unlimited, fires once after an outage and returns to its rhythm", async () => {
    const order = await play(watched({ cycle: "R/PT10M", interrupting: false }));

    await order.fire("late", 34 * MINUTE);

    expect(order.timer("late").dueAt).toBe(BEGIN + 50 * MINUTE);
    expect(order.timer("late").cycle).toEqual({ text: "R/PT10M", left: "unbounded" });
  });

  test("keeps the calendar of its zone from one firing to the next", async () => {
    const order = await play(
      watched({ cycle: "R/P3M", zone: "Europe/Berlin", interrupting: false }),
    );

    await order.fire("late");

    expect(order.timer("late").cycle?.zone).toBe("Europe/Berlin");
    expect(order.timer("late").dueAt).toBe(Date.parse("2024-06-30T23:00:00Z"));
  });

  test("R20: by cron, follows the local time of its zone and skips what an outage missed", async () => {
    const morning = { cycle: "0 30 9 * * MON-FRI", zone: "Europe/Berlin", interrupting: false };
    const order = await play(watched(morning));
    const first = order.timer("late").dueAt;

    await order.fire("late");
    const second = order.timer("late").dueAt;
    await order.fire("late", 4 * DAY);

    expect(new Date(first).toISOString()).toBe("2024-01-01T08:30:00.000Z");
    expect(new Date(second).toISOString()).toBe("2024-01-02T08:30:00.000Z");
    expect(order.timer("late").cycle?.left).toBe("unbounded");
    expect(new Date(order.timer("late").dueAt).toISOString()).toBe("2024-01-08T08:30:00.000Z");
  });

  test("of a stored definition without length fires once a second", async () => {
    const order = await play(watched({ cycle: "R3/PT0S", interrupting: false }));
    const { dueAt: first } = order.timer("late");

    await order.fire("late");

    expect([first, order.timer("late").dueAt]).toEqual([BEGIN + 1_000, BEGIN + 2_000]);
    expect(order.timer("late").cycle?.left).toBe(2);
  });

  test("cannot be entered with a computed cycle that is too short", async () => {
    const order = await play(watched({ cycle: '="R3/PT0S"', interrupting: false }));

    expect(order.incident("pay").message).toContain("is too short");
  });

  test("cannot be entered with an invalid cycle", async () => {
    const order = await play(watched({ cycle: "every day", interrupting: false }));

    expect(order.incident("pay").message).toContain("is not a cycle");
  });
});

describe("a loop", () => {
  test("F20: gives each round of an activity its own timer", async () => {
    const definition = aProcess(
      [
        aStart(),
        aTask("try"),
        aBoundaryTimer("late", { on: "try", duration: "PT1H" }),
        aChoice("again", "again -> end"),
        anEnd(),
        aTask("remind"),
      ],
      ["start -> try -> again", "again -> try if more", "again -> end", "late -> remind"],
    );
    const order = await play(definition);
    const first = order.timer("late");
    order.now = BEGIN + 30 * MINUTE;
    await order.complete("try", { more: true });

    const second = order.timer("late");
    order.now = BEGIN + HOUR;
    const stale = await order.deliver({ kind: "timer-due", ticket: first.id });

    expect(second.id).not.toBe(first.id);
    expect(second.ref).not.toBe(first.ref);
    expect(second.dueAt).toBe(BEGIN + 90 * MINUTE);
    expect(stale.changed).toBe(false);
    expect(order.open).toEqual(["timer late", "task try"]);
  });
});
