import { describe, expect, test } from "vitest";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { Ticket } from "../../../lib/kernel/instance.ts";
import {
  aBoundaryMessage,
  aBoundarySignal,
  aBoundaryTimer,
  aFork,
  aMessageCatch,
  anEnd,
  anEventGateway,
  aProcess,
  aScope,
  aSignalCatch,
  aStart,
  aTask,
  aTimer,
  type Piece,
} from "../../support/graph-builder.ts";
import { type Play, play } from "../../support/play.ts";

const HOUR = 3_600_000;
const KINDS = ["timer", "message", "signal"] as const;
type Kind = (typeof KINDS)[number];

/** All subsets of two or three kinds, in every order: `[["timer", "message"], …]`. */
const SETS: readonly (readonly Kind[])[] = [
  ...KINDS.flatMap((a) => KINDS.filter((b) => b !== a).map((b) => [a, b] as const)),
  ...KINDS.flatMap((a) =>
    KINDS.filter((b) => b !== a).flatMap((b) =>
      KINDS.filter((c) => c !== a && c !== b).map((c) => [a, b, c] as const),
    ),
  ),
];

const RACES = SETS.flatMap((kinds) => kinds.map((winner) => [kinds.join(", "), winner] as const));
const kindsOf = (text: string): readonly Kind[] => KINDS.filter((kind) => text.includes(kind));
const inOrder = (text: string): readonly Kind[] => text.split(", ").flatMap(kindsOf);

/** The fact for what a ticket waits for. */
function comingFor(ticket: Ticket): Fact {
  const { id } = ticket;
  switch (ticket.on) {
    case "timer":
      return { kind: "timer-due", ticket: id };
    case "signal":
      return {
        kind: "signal-received",
        ticket: id,
        broadcastId: "b1",
        seq: 1,
        payload: { by: "signal" },
      };
    case "message":
      return {
        kind: "message-received",
        ticket: id,
        messageId: "m1",
        payload: { by: "message" },
      };
    case "task":
    case "event":
    case "child":
    case "continuation":
    case "incident":
    case "family":
      return { kind: "task-completed", ticket: id, variables: { by: "task" } };
  }
}

/** Delivers what this ticket waits for; for a timer, time passes. */
function come(order: Play, ticket: Ticket) {
  if (ticket.on === "timer") order.now = Math.max(order.now, ticket.dueAt);
  return order.deliver(comingFor(ticket));
}

const ticketOf = (order: Play, element: string): Ticket => {
  const found = order.instance.tickets.find((ticket) => ticket.element === element);
  if (found === undefined) throw new Error(`"${element}" waits for nothing`);
  return found;
};

/** Nothing that lost is open, and nothing that lost can still happen. */
async function expectNothingLeft(order: Play, before: readonly Ticket[], open: readonly string[]) {
  expect(order.open).toEqual(open);
  const decided = order.instance;
  order.now += 10 * HOUR;
  for (const ticket of before) {
    expect(await order.deliver(comingFor(ticket))).toEqual({ instance: decided, changed: false });
  }
}

describe("an event-based gateway", () => {
  const catching: Record<Kind, Piece> = {
    timer: aTimer("timer", { duration: "PT1H" }),
    message: aMessageCatch("message", "paid", "=order"),
    signal: aSignalCatch("signal", "closed"),
  };
  const racing = (kinds: readonly Kind[]) =>
    aProcess(
      [
        aStart(),
        anEventGateway("first"),
        ...kinds.map((kind) => catching[kind]),
        ...kinds.map((kind) => aTask(`after-${kind}`)),
      ],
      ["start -> first", ...kinds.map((kind) => `first -> ${kind} -> after-${kind}`)],
    );

  test.each(RACES)("F54: of %s lets the %s win, and closes the others", async (text, winner) => {
    const order = await play(racing(inOrder(text)), { variables: { order: 42 } });
    const before = order.instance.tickets;
    const { active, open } = order;

    await come(order, ticketOf(order, winner));

    expect(open).toEqual(inOrder(text).map((kind) => `${kind} ${kind}`));
    expect(active).toEqual(["first"]);
    expect(order.active).toEqual([`after-${winner}`]);
    expect(order.instance.completed).toEqual(["start", "first", winner]);
    await expectNothingLeft(order, before, [`task after-${winner}`]);
  });

  test("F54: records the winner in the history, and takes one flow", async () => {
    const order = await play(racing(KINDS), { variables: { order: 42 } });

    await order.message("message", { amount: 3 }, "m-7");

    const { entries } = order.instance.trail;
    expect(order.trail.slice(order.trail.indexOf("message-received message"))).toEqual([
      "message-received message",
      "element-completed first",
      "flow-taken first -> message",
      "element-entered message",
      "element-completed message",
      "flow-taken message -> after-message",
      "element-entered after-message",
    ]);
    expect(entries.find(({ type }) => type === "message-received")?.data).toEqual({
      messageId: "m-7",
    });
    expect(order.input("after-message")).toEqual({ order: 42, amount: 3 });
  });

  test("waits with one token: every ticket belongs to the gateway", async () => {
    const order = await play(racing(KINDS), { variables: { order: 42 } });

    const refs = new Set(order.instance.tickets.map(({ ref }) => ref));

    expect(refs.size).toBe(1);
    expect(order.waitForMessage("message")).toMatchObject({ name: "paid", key: "42" });
    expect(order.waitForSignal("signal")).toMatchObject({ name: "closed" });
    expect(order.waitForSignal("signal")).not.toHaveProperty("taken");
  });

  test("gives the payload to the output mappings of the event that won", async () => {
    const definition = aProcess(
      [
        aStart(),
        anEventGateway("first"),
        aSignalCatch("signal", "closed", { outputs: { why: "=reason" } }),
        aTimer("timer", { duration: "PT1H" }),
        aTask("after"),
      ],
      ["start -> first", "first -> signal -> after", "first -> timer"],
    );
    const order = await play(definition);

    await order.signal("signal", { payload: { reason: "flood" } });

    expect(order.input("after")).toEqual({ why: "flood" });
  });

  test("is retried as a whole when one of its waits cannot be computed", async () => {
    const order = await play(racing(KINDS));
    const incident = order.incident("first");

    await order.resolve("first", { variables: { order: "o-1" } });

    expect(incident).toMatchObject({ type: "EXTRACT_VALUE_ERROR", phase: "enter" });
    expect(order.open).toEqual(["timer timer", "message message", "signal signal"]);
  });

  test("can be cancelled with all its waits", async () => {
    const order = await play(racing(KINDS), { variables: { order: 42 } });

    await order.cancel();

    expect(order.instance.tickets).toEqual([]);
    expect(order.trail).toContain("element-terminated first");
  });
});

const border: Record<Kind, (on: string) => Piece> = {
  timer: (on) => aBoundaryTimer("timer", { on, duration: "PT1H" }),
  message: (on) => aBoundaryMessage("message", { on, name: "stop", key: "=order" }),
  signal: (on) => aBoundarySignal("signal", { on, name: "stop" }),
};

const HOSTS: Record<string, Piece> = {
  task: aTask("host"),
  "timer catch": aTimer("host", { duration: "PT2H" }),
  "message catch": aMessageCatch("host", "paid", "=order"),
  "signal catch": aSignalCatch("host", "closed"),
  scope: aScope(
    "host",
    [aStart("in"), aFork("both"), aTask("left"), aSignalCatch("right", "closed")],
    ["in -> both -> left", "both -> right"],
  ),
};

const bordered = (host: string, kinds: readonly Kind[]) =>
  aProcess(
    [
      aStart(),
      HOSTS[host] ?? aTask("host"),
      ...kinds.map((kind) => border[kind]("host")),
      aTask("ship"),
      ...kinds.map((kind) => aTask(`after-${kind}`)),
    ],
    ["start -> host -> ship", ...kinds.map((kind) => `${kind} -> after-${kind}`)],
  );

const ORDER = { variables: { order: 42 } };
const BORDERS = Object.keys(HOSTS).flatMap((host) =>
  [...KINDS.map((kind) => [kind, kind] as const), ...RACES].map(
    ([kinds, winner]) => [winner, kinds, host] as const,
  ),
);

describe("boundary events", () => {
  test.each(BORDERS)(
    "F34: F35: F65: S2: when the %s fires, of %s on a %s, all others of the host are closed",
    async (winner, text, host) => {
      const order = await play(bordered(host, inOrder(text)), ORDER);
      const before = order.instance.tickets;

      await come(order, ticketOf(order, winner));

      expect(order.trail).toContain("element-terminated host");
      expect(order.active).toEqual([`after-${winner}`]);
      await expectNothingLeft(order, before, [`task after-${winner}`]);
    },
  );

  test.each(Object.keys(HOSTS).filter((host) => host !== "scope"))(
    "F36: F65: are all closed when their host, a %s, is first",
    async (host) => {
      const order = await play(bordered(host, KINDS), ORDER);
      const before = order.instance.tickets;

      await come(order, ticketOf(order, "host"));

      await expectNothingLeft(order, before, ["task ship"]);
    },
  );

  test("F36: are closed when their scope completes", async () => {
    const order = await play(bordered("scope", KINDS), ORDER);
    const before = order.instance.tickets;

    await order.signal("right");
    await order.complete("left");

    await expectNothingLeft(order, before, ["task ship"]);
  });

  test.each(["message", "signal"] as const)(
    "F34: pass the payload of a %s on, from around the host",
    async (kind) => {
      const order = await play(bordered("task", [kind]), ORDER);

      await come(order, ticketOf(order, kind));

      expect(order.variables).toEqual({ order: 42, by: kind });
    },
  );

  test("F34: with output mappings keep the payload to themselves", async () => {
    const definition = aProcess(
      [
        aStart(),
        aTask("work"),
        aBoundarySignal("stop", { on: "work", name: "stop", outputs: { why: "=reason" } }),
        anEnd("stopped"),
      ],
      ["start -> work", "stop -> stopped"],
    );
    const order = await play(definition);

    await order.signal("stop", { payload: { reason: "flood", by: "me" } });

    expect(order.status).toBe("succeeded success");
    expect(order.variables).toEqual({ why: "flood" });
  });

  test("S2: close what incidents of their host have open", async () => {
    const order = await play(bordered("task", KINDS), ORDER);
    await order.fail("host", { retries: 0 });
    const { open } = order;

    await order.message("message");

    expect(open).toEqual(["timer timer", "message message", "signal signal", "incident host"]);
    expect(order.open).toEqual(["task after-message"]);
  });
});
