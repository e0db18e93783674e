import { describe, expect, test } from "vitest";
import type { Definition } from "../../lib/definition/definition.ts";
import { FEEL } from "../../lib/definition/expression.ts";
import { MAX_KEPT_FACT_LENGTH, MAX_OPEN_TICKETS } from "../../lib/definition/limits.ts";
import { decideIncident } from "../../lib/kernel/decide.ts";
import type { Fact } from "../../lib/kernel/fact.ts";
import type { TaskTicket } from "../../lib/kernel/instance.ts";
import type { Program } from "../../lib/kernel/runner.ts";
import {
  aBoundaryTimer,
  anEnd,
  aProcess,
  aScript,
  aStart,
  aTask,
  aTimer,
} from "../support/graph-builder.ts";
import { aProgram, BEGIN, committed, givenAt, Play, play } from "../support/play.ts";

const HOUR = 3_600_000;

const oneTask = aProcess([aStart(), aTask("work"), anEnd()], ["start -> work -> end"]);
const pause = aProcess(
  [aStart(), aTimer("pause", { duration: "PT1H" }), aTask("work")],
  ["start -> pause -> work"],
);

describe("a terminal instance", () => {
  test("F18: decides nothing, whatever the fact", async () => {
    const order = await play(oneTask);
    const { id } = order.task("work");
    await order.complete("work");
    const done = order.instance;

    for (const fact of [
      { kind: "started", input: { variables: {} } },
      { kind: "cancel-requested" },
      { kind: "task-completed", ticket: id, variables: {} },
    ] as const) {
      expect(await order.deliver(fact)).toEqual({ instance: done, changed: false });
    }
  });
});

describe("a fact", () => {
  test("F17: delivered twice is taken once", async () => {
    const order = await play(pause);
    const { id } = order.timer("pause");
    await order.fire("pause");

    const again = await order.deliver({ kind: "timer-due", ticket: id });

    expect(again.changed).toBe(false);
    expect(order.open).toEqual(["task work"]);
  });

  test("that starts an instance a second time changes nothing", async () => {
    const order = await play(oneTask);

    const again = await order.deliver({ kind: "started", input: { variables: { late: true } } });

    expect(again.changed).toBe(false);
  });

  test("timer-due never fires early, but fires at its instant", async () => {
    const order = await play(pause);
    const due = { kind: "timer-due", ticket: order.timer("pause").id } as const;

    order.now = BEGIN + HOUR - 1;
    const early = await order.deliver(due);
    order.now = BEGIN + HOUR;
    const inTime = await order.deliver(due);

    expect([early.changed, inTime.changed]).toEqual([false, true]);
  });

  test.each([
    ["task-completed", { variables: {} }],
    ["task-failed", { attempt: 1, message: "no" }],
    ["task-claimed", { attempt: 1, claim: "me" }],
    ["continued", {}],
    ["incident-resolved", {}],
  ] as const)("%s cannot consume a timer", async (kind, more) => {
    const order = await play(pause);
    order.now = BEGIN + HOUR;
    const ticket = order.timer("pause").id;

    const decision = await order.deliver({ kind, ticket, ...more } as never);

    expect(decision.changed).toBe(false);
  });

  test("timer-due cannot consume a task", async () => {
    const order = await play(oneTask);

    const decision = await order.deliver({ kind: "timer-due", ticket: order.task("work").id });

    expect(decision.changed).toBe(false);
  });

  test("about an earlier attempt changes nothing, but a completion of any attempt counts", async () => {
    const order = await play(oneTask);
    await order.fail("work");

    const late = await order.fail("work", { attempt: 1 });
    await order.complete("work");

    expect(late.changed).toBe(false);
    expect(order.status).toBe("succeeded success");
  });
});

describe("a claim", () => {
  test("stays on the ticket until the attempt is over", async () => {
    const order = await play(
      aProcess([aStart(), aTask("a"), aTask("b")], ["start -> a", "start -> b"]),
    );
    const { id } = order.task("a");

    await order.deliver({ kind: "task-claimed", ticket: id, attempt: 1, claim: "me" });
    const claimed = order.task("a");
    await order.fail("a");

    expect(claimed.claim).toBe("me");
    expect(order.task("b").claim).toBeUndefined();
    expect(order.task("a").claim).toBeUndefined();
  });
});

describe("a deadline", () => {
  const definition = aProcess([aStart(), aTimer("long", { duration: "PT2H" })], ["start -> long"]);

  test("F21: beats a later timer: failed by timeout, with nothing left armed", async () => {
    const order = await play(definition, { deadline: BEGIN + HOUR });

    await order.fire("process");

    expect(order.status).toBe("failed timeout");
    expect(order.instance.tickets).toEqual([]);
    expect(order.instance.error?.message).toContain("deadline");
    expect(order.trail.slice(-3)).toEqual([
      "timer-due process",
      "element-terminated long",
      "instance-ended",
    ]);
  });

  test("is dropped with an instance that ends before it", async () => {
    const order = await play(oneTask, { deadline: BEGIN + HOUR });

    await order.complete("work");

    expect(order.status).toBe("succeeded success");
    expect(order.instance.tickets).toEqual([]);
  });
});

describe("a cancel", () => {
  test("F7: ends the instance at once and disarms everything; a second one does nothing", async () => {
    const definition = aProcess(
      [aStart(), aTask("work"), aBoundaryTimer("late", { on: "work", duration: "PT1H" })],
      ["start -> work"],
    );
    const order = await play(definition, { variables: { amount: 3 } });

    await order.cancel("changed my mind");
    const second = await order.cancel();

    expect(order.status).toBe("cancelled cancel");
    expect(order.instance.tickets).toEqual([]);
    expect(order.instance.endedAt).toBe(order.now);
    expect(order.variables).toEqual({ amount: 3 });
    expect(order.active).toEqual([]);
    expect(second.changed).toBe(false);
    const said = order.instance.trail.entries.find(({ type }) => type === "cancel-requested");
    expect(said?.data).toEqual({ reason: "changed my mind" });
  });

  test("without a reason has none", async () => {
    const order = await play(oneTask);

    await order.cancel();

    const said = order.instance.trail.entries.find(({ type }) => type === "cancel-requested");
    expect(said).not.toHaveProperty("data");
  });
});

/** Throws after the runner has done its work on the draft, for as long as `broken` is set. */
function breaking(program: Program, broken: { by?: unknown }): Program {
  const check = () => {
    if (broken.by !== undefined) throw broken.by;
  };
  return {
    ...program,
    runner: {
      ...program.runner,
      start: async (draft, input) => {
        await program.runner.start(draft, input);
        check();
      },
      resume: async (draft, fact, ticket) => {
        await program.runner.resume(draft, fact, ticket);
        check();
      },
    },
  };
}

describe("a fact that cannot be decided", () => {
  test("becomes an incident in place of the ticket, and resolving takes the fact again", async () => {
    const broken: { by?: unknown } = {};
    const order = await play(breaking(aProgram(oneTask), broken), { variables: { amount: 3 } });
    const before = order.instance;
    broken.by = new Error("out of order");

    await order.complete("work", { receipt: "r-1" });

    expect(order.open).toEqual(["incident work"]);
    expect(order.incident("work")).toMatchObject({ type: "UNKNOWN", message: "out of order" });
    expect(order.instance.state).toBe(before.state);

    broken.by = undefined;
    await order.resolve("work");

    expect(order.status).toBe("succeeded success");
    expect(order.variables).toEqual({ amount: 3, receipt: "r-1" });
  });

  test("stays the first one however often resolving fails", async () => {
    const broken: { by?: unknown } = {};
    const order = await play(breaking(aProgram(oneTask), broken));
    broken.by = "not even an error";
    await order.complete("work", { receipt: "r-1" });
    const { kept } = order.incident("work");

    await order.resolve("work");
    await order.resolve("work");

    expect(order.incident("work")).toMatchObject({ message: "not even an error", kept });
    expect(kept?.fact?.kind).toBe("task-completed");
  });

  test("is not kept if it is a result that is too large: resolving runs the task again", async () => {
    const broken: { by?: unknown } = {};
    const order = await play(breaking(aProgram(oneTask), broken));
    const { id } = order.task("work");
    const wrapping = JSON.stringify({ kind: "task-completed", ticket: id, variables: { x: "" } });
    const most = "x".repeat(MAX_KEPT_FACT_LENGTH - wrapping.length);
    broken.by = new Error("no");

    const kept = await order.decide({
      kind: "task-completed",
      ticket: id,
      variables: { x: most },
    });
    await order.complete("work", { x: `${most}x` });
    const dropped = order.incident("work");
    broken.by = undefined;
    await order.resolve("work");

    expect(kept.instance.tickets[0]).toHaveProperty("kept.fact");
    expect(dropped.kept).not.toHaveProperty("fact");
    expect(order.task("work")).toMatchObject({ id, attempt: 2 });
  });

  test("is kept if it is a start, whatever its size: it would not be sent again", async () => {
    const broken: { by?: unknown } = { by: new Error("no") };
    const variables = { x: "x".repeat(MAX_KEPT_FACT_LENGTH) };
    const order = await play(breaking(aProgram(oneTask), broken), { variables });

    broken.by = undefined;
    const { open } = order;
    await order.resolve("process");

    expect(open).toEqual(["incident process"]);
    expect(order.open).toEqual(["task work"]);
    expect(order.variables).toEqual(variables);
  });

  test("raises no incident when it came too late", async () => {
    const order = await play(oneTask);
    const fact = { kind: "timer-due", ticket: "t9.9" } as const;
    const why = { type: "UNKNOWN", message: "no" } as const;

    const decision = decideIncident(order.program, order.instance, { fact, why }, givenAt(BEGIN));

    expect(decision).toEqual({ instance: order.instance, changed: false });
  });
});

describe("a fact that would make the instance too large", () => {
  const tooLarge = { type: "STATE_TOO_LARGE", message: "Too large." } as const;
  const refuse = (order: Play, fact: Fact) => {
    const given = givenAt(order.now);
    const { instance } = decideIncident(
      order.program,
      order.instance,
      { fact, why: tooLarge },
      given,
    );
    order.instance = committed(instance);
  };
  const completion = ({ id }: TaskTicket, variables = {}): Fact => ({
    kind: "task-completed",
    ticket: id,
    variables,
  });

  test("is not kept, however small, but its ticket is: resolving runs the task again", async () => {
    const order = await play(oneTask);
    const work = order.task("work");

    refuse(order, completion(work, { x: 1 }));
    const refused = order.incident("work");
    await order.resolve("work");

    expect(refused).toMatchObject({ type: "STATE_TOO_LARGE", kept: { ticket: work } });
    expect(refused.kept).not.toHaveProperty("fact");
    expect(order.open).toEqual(["task work"]);
    expect(order.task("work")).toMatchObject({ id: work.id, attempt: 2, retries: work.retries });
    await order.complete("work");
    expect(order.status).toBe("succeeded success");
  });

  test("does not grow the instance by repeated refusals", async () => {
    const order = await play(oneTask);
    const sizes = new Set<number>();

    for (let round = 0; round < 4; round += 1) {
      refuse(order, completion(order.task("work"), { x: "x".repeat(1_000) }));
      sizes.add(JSON.stringify(order.instance.tickets).length);
      await order.resolve("work");
    }

    expect(sizes.size).toBe(1);
  });

  test("gives a claimed task back unclaimed and without delay: the claimed run is over", async () => {
    const order = await play(oneTask);
    await order.fail("work", { retryAfterMs: HOUR });
    const { id, attempt } = order.task("work");
    await order.deliver({ kind: "task-claimed", ticket: id, attempt, claim: "me" });

    refuse(order, completion(order.task("work")));
    await order.resolve("work");

    expect(order.task("work")).toMatchObject({ id, attempt: attempt + 1 });
    expect(order.task("work")).not.toHaveProperty("claim");
    expect(order.task("work")).not.toHaveProperty("notBefore");
  });

  test("lets a timer fire again when resolved", async () => {
    const order = await play(pause);
    const { id, dueAt } = order.timer("pause");
    order.now = dueAt;

    refuse(order, { kind: "timer-due", ticket: id });
    const refused = order.incident("pause");
    await order.resolve("pause");
    const again = order.timer("pause");
    await order.fire("pause");

    expect(refused.kept).not.toHaveProperty("fact");
    expect(again).toMatchObject({ id, dueAt });
    expect(again).not.toHaveProperty("lease");
    expect(order.open).toEqual(["task work"]);
  });

  test("drops what an earlier incident had kept: the same result would be too large again", async () => {
    const broken: { by?: unknown } = {};
    const order = await play(breaking(aProgram(oneTask), broken));
    const work = order.task("work");
    broken.by = new Error("no");
    await order.complete("work", { x: 1 });
    const { id, kept } = order.incident("work");

    refuse(order, { kind: "incident-resolved", ticket: id });

    expect(kept).toHaveProperty("fact");
    expect(order.incident("work").kept).toEqual({ ticket: work });
  });

  test("does not drop a start that an incident holds: it would not be sent again", async () => {
    const broken: { by?: unknown } = { by: new Error("no") };
    const order = await play(breaking(aProgram(oneTask), broken), { variables: { x: 1 } });
    const { id } = order.incident("process");
    broken.by = undefined;

    refuse(order, { kind: "incident-resolved", ticket: id });
    const { open } = order;
    await order.resolve("process");

    expect(open).toEqual(["incident process"]);
    expect(order.open).toEqual(["task work"]);
    expect(order.variables).toEqual({ x: 1 });
  });

  test("is not kept if it is a start, as the store could not hold it: it can only be cancelled", async () => {
    const order = new Play(aProgram(oneTask), givenAt(BEGIN).expressions);
    refuse(order, { kind: "started", input: { variables: {} } });

    await order.resolve("process");
    const stuck = order.incident("process");
    await order.cancel();

    expect(stuck.message).toContain("nothing that could ever wake it");
    expect(order.status).toBe("cancelled cancel");
  });

  test("is also refused if it is a cancel, and leaves nothing to retry", async () => {
    const order = await play(oneTask);

    refuse(order, { kind: "cancel-requested" });
    const { open } = order;
    await order.resolve("process");

    expect(open).toEqual(["task work", "incident process"]);
    expect(order.open).toEqual(["task work"]);
  });
});

describe("resolving a fact that could not be decided", () => {
  const twoTasks = aProcess([aStart(), aTask("work"), aTask("next")], ["start -> work -> next"]);
  const brokenPlay = async (definition: Definition, variables = {}) => {
    const broken: { by?: unknown } = {};
    const order = await play(breaking(aProgram(definition), broken), { variables });
    broken.by = new Error("no");
    return { order, broken };
  };

  test("applies variables before the fact, whose own take precedence", async () => {
    const { order, broken } = await brokenPlay(twoTasks, { rate: 1 });
    await order.complete("work", { receipt: "r-1" });
    broken.by = undefined;

    await order.resolve("work", { variables: { rate: 2, receipt: "mine" } });

    expect(order.open).toEqual(["task next"]);
    expect(order.variables).toEqual({ rate: 2, receipt: "r-1" });
  });

  test("propagates variables upward from the element, as with any incident", async () => {
    const definition = aProcess(
      [aStart(), aTask("work", { inputs: { rate: "=1" } })],
      ["start -> work"],
    );
    const { order, broken } = await brokenPlay(definition);
    await order.complete("work", { x: "x".repeat(MAX_KEPT_FACT_LENGTH) });
    broken.by = undefined;

    await order.resolve("work", { variables: { rate: 2, note: "n" } });

    expect(order.input("work")).toEqual({ rate: 2, note: "n" });
    expect(order.variables).toEqual({ note: "n" });
  });

  test("gives a task that runs again the specified attempts", async () => {
    const { order } = await brokenPlay(oneTask);
    await order.complete("work", { x: "x".repeat(MAX_KEPT_FACT_LENGTH) });

    await order.resolve("work", { retries: 9 });

    expect(order.task("work").retries).toBe(9);
  });

  test("counts the specified attempts from after a kept failure", async () => {
    const { order, broken } = await brokenPlay(oneTask);
    await order.fail("work", { retries: 1 });
    broken.by = undefined;

    await order.resolve("work", { retries: 9 });

    expect(order.task("work")).toMatchObject({ attempt: 2, retries: 9 });
  });

  test("lets a kept failure use up an attempt when none are specified", async () => {
    const { order, broken } = await brokenPlay(oneTask);
    await order.fail("work");
    broken.by = undefined;

    await order.resolve("work");

    expect(order.task("work")).toMatchObject({ attempt: 2, retries: 2 });
  });

  test("ignores attempts for a timer", async () => {
    const { order, broken } = await brokenPlay(pause);
    await order.fire("pause");
    broken.by = undefined;

    await order.resolve("pause", { retries: 9, variables: { rate: 2 } });

    expect(order.open).toEqual(["task work"]);
    expect(order.variables).toEqual({ rate: 2 });
  });

  test("overrides the variables of a start", async () => {
    const broken: { by?: unknown } = { by: new Error("no") };
    const program = breaking(aProgram(oneTask), broken);
    const order = await play(program, { variables: { a: 1, b: 1 }, deadline: BEGIN + HOUR });
    broken.by = undefined;

    await order.resolve("process", { variables: { b: 2 } });

    expect(order.open).toEqual(["timer process", "task work"]);
    expect(order.variables).toEqual({ a: 1, b: 2 });
  });

  test("combines with an earlier resolution of an incident, and the newer takes precedence", async () => {
    const { order, broken } = await brokenPlay(oneTask);
    broken.by = undefined;
    await order.fail("work", { retries: 0 });
    broken.by = new Error("no");
    await order.resolve("work", { variables: { a: 1, b: 1 }, retries: 4 });
    const { type } = order.incident("work");
    broken.by = undefined;

    await order.resolve("work", { variables: { b: 2 } });

    expect(type).toBe("UNKNOWN");
    expect(order.task("work").retries).toBe(4);
    expect(order.variables).toEqual({ a: 1, b: 2 });
  });

  test("resolves the incident that it had restored, when the earlier resolution was too large", async () => {
    const order = await play(oneTask);
    await order.fail("work", { retries: 0 });
    const { id } = order.incident("work");
    const large = { kind: "incident-resolved", ticket: id, variables: { x: "large" } } as const;
    const why = { type: "STATE_TOO_LARGE", message: "Too large." } as const;
    const { instance } = decideIncident(
      order.program,
      order.instance,
      { fact: large, why },
      givenAt(BEGIN),
    );
    order.instance = committed(instance);

    await order.resolve("work", { retries: 4 });

    expect(order.open).toEqual(["task work"]);
    expect(order.task("work").retries).toBe(4);
    expect(order.variables).toEqual({});
  });
});

describe("open tickets", () => {
  const fanOut = (width: number) => {
    const ids = Array.from({ length: width }, (_, index) => `t${index}`);
    return aProcess(
      [aStart(), aTask("first"), ...ids.map((id) => aTask(id))],
      ["start -> first", ...ids.map((id) => `first -> ${id}`)],
    );
  };

  test(`may be ${MAX_OPEN_TICKETS}`, async () => {
    const order = await play(fanOut(MAX_OPEN_TICKETS));

    await order.complete("first");

    expect(order.open).toHaveLength(MAX_OPEN_TICKETS);
  });

  test("beyond the limit are an incident instead, and the fact is kept", async () => {
    const order = await play(fanOut(MAX_OPEN_TICKETS + 1));

    await order.complete("first");

    expect(order.open).toEqual(["incident first"]);
    expect(order.incident("first").type).toBe("TOO_MANY_OPEN_TICKETS");
  });

  test("never reuse an id, in one commit or over many", async () => {
    const order = await play(fanOut(3));
    const ids = new Set(order.instance.tickets.map(({ id }) => id));
    await order.complete("first");

    for (const { id } of order.instance.tickets) ids.add(id);

    expect([...ids]).toEqual(["k1.1", "k2.1", "k2.2", "k2.3"]);
  });
});

describe("an expression engine that throws unexpectedly", () => {
  const broken = new Error("engine broke");

  test.each([
    [
      "at once",
      () => {
        throw broken;
      },
    ],
    ["later", () => Promise.reject(broken)],
  ])("%s causes an incident, and the instance stays live", async (_, evaluate) => {
    const definition = aProcess(
      [aStart(), aTask("work"), aScript("sum", "total = 1")],
      ["start -> work -> sum"],
    );
    const language = { check: () => undefined, variablesOf: () => [], evaluate };
    const expressions = new Map([[FEEL, language]]);
    const order = await play(definition, { expressions });

    await order.complete("work");

    expect(order.incident("work")).toMatchObject({ type: "UNKNOWN", message: "engine broke" });
  });
});
