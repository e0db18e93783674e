import { describe, expect, test } from "vitest";
import { findTicket, itemName, openIn } from "../../../lib/kernel/batch.ts";
import { decideIncident } from "../../../lib/kernel/decide.ts";
import { done, incidentsOf, NO_ROOM, resultOf, run } from "../../support/code-play.ts";
import { aCode } from "../../support/code-workflow.ts";
import { BEGIN, committed, givenAt, type Play, play } from "../../support/play.ts";

const numbers = (size: number) => Array.from({ length: size }, (_, n) => n);
const fan = (size: number, options = "{}") =>
  `all(Array.from({ length: ${size} }, (_, n) => task("a", { n }, ${options})))`;

const doneItem = (it: Play, member: number, result: number) =>
  it.deliver({
    kind: "task-completed",
    ticket: itemName(it.family("a").id, member),
    variables: {},
    result,
  });

const inputOf = (it: Play, member: number) => {
  const ticket = findTicket(it.instance.tickets, itemName(it.family("a").id, member));
  if (ticket?.on !== "task") throw new Error(`item ${member} is not open`);
  return it.program.runner.taskInput(it.instance, ticket).input;
};

/** An item whose outcome could not be stored waits for an incident. */
function refuse(it: Play, member: number): void {
  const ticket = itemName(it.family("a").id, member);
  const fact = { kind: "task-completed", ticket, variables: {} } as const;
  const why = { type: "STATE_TOO_LARGE", message: "too large" } as const;
  it.instance = committed(
    decideIncident(it.program, it.instance, { fact, why }, givenAt(it.now)).instance,
  );
}

describe("many like tasks", () => {
  test("R23: a hundred share one ticket, and give their results in order", async () => {
    const order = await run(`return ${fan(100)};`, async (it) => {
      expect(it.open).toEqual(["family a"]);
      expect(it.family("a")).toMatchObject({ type: "a", size: 100, retries: 3, table: {} });
      expect(it.tokens).toEqual([{ element: "a", count: 100 }]);
      for (const member of numbers(100).toReversed()) await doneItem(it, member, member * 2);
    });

    expect(resultOf(order)).toEqual(numbers(100).map((n) => n * 2));
    expect(order.instance.state).not.toHaveProperty("b");
  });

  test("have a ticket each up to ten, and share one from eleven on", async () => {
    const ten = await run(`await ${fan(10)};`);
    const eleven = await run(`await ${fan(11)};`);

    expect(ten.open).toHaveLength(10);
    expect(eleven.open).toEqual(["family a"]);
  });

  test("share a ticket only if type and options are the same", async () => {
    const order = await run(
      `await all([
         ${fan(11, '{ retry: { maxAttempts: 7, backoff: "2s" } }')}, ${fan(11, '{ timeout: "1h" }')},
         ...Array.from({ length: 12 }, (_, n) => task("t" + n)),
       ]);`,
    );

    const families = order.instance.tickets.filter(({ on }) => on === "family");
    expect(families).toMatchObject([
      { size: 11, retries: 7, table: { maxAttempts: 7, backoff: "PT2S" }, ref: 1 },
      { size: 11, retries: 3, table: {}, ref: 12 },
    ]);
    expect(order.open.filter((it) => it.startsWith("task"))).toHaveLength(12);
  });

  test("map each item to its operation, beside other operations", async () => {
    const order = await run(
      `const all12 = []; for (let n = 0; n < 12; n++) { all12.push(task("a", { n })); task("other" + n); }
       return all(all12);`,
      async (it) => {
        expect([0, 5, 11].map((member) => inputOf(it, member))).toEqual([
          { n: 0 },
          { n: 5 },
          { n: 11 },
        ]);
        await doneItem(it, 5, 50);
      },
    );

    expect(order.instance.journal?.entries[0]).toEqual([11, BEGIN, ["a", 50]]);
  });

  test("R4: of which one fails for good end together", async () => {
    const order = await run(
      `try { await ${fan(12)}; } catch (error: any) { return [error.type, error.attempts]; }`,
      async (it) => {
        await doneItem(it, 3, 1);
        await it.failMember("a", 7);
      },
    );

    expect(resultOf(order)).toEqual(["a", 3]);
    expect(order.instance.tickets).toEqual([]);
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(10);
  });

  test("are disarmed one by one", async () => {
    const order = await run(
      `const tasks = Array.from({ length: 12 }, (_, n) => task("a", n));
       await race([tasks[0], tasks[1], delay("1h")]); return all(tasks.slice(2));`,
      async (it) => {
        await it.fire("timer");
        const batch = it.family("a");
        expect(openIn(batch)).toBe(10);
        for (const member of numbers(12).slice(2)) await doneItem(it, member, member);
      },
    );

    expect(resultOf(order)).toEqual(numbers(12).slice(2));
  });

  test("R21: time out together: those that are open", async () => {
    const order = await run(
      `const settled = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => task("a", n, { timeout: "1h" })));
       return settled.map((it: any) => it.value ?? it.reason.name);`,
      async (it) => {
        expect(it.open).toEqual(["family a", "timer a"]);
        await doneItem(it, 0, 7);
        await it.fire("a");
      },
    );

    expect(resultOf(order)).toEqual([7, ...numbers(11).map(() => "TimedOut")]);
    expect(order.instance.tickets).toEqual([]);
  });

  test("R21: that time out fail fast: the first failure disarms the others", async () => {
    const order = await run(
      `try { await ${fan(12, '{ timeout: "1h" }')}; } catch (error: any) { return error.name; }`,
      (it) => it.fire("a"),
    );

    expect(resultOf(order)).toBe("TimedOut");
    expect(order.instance.journal?.entries).toHaveLength(1);
  });

  test("R3: are finished after the return, two batches of them", async () => {
    const order = await run(
      `for (let n = 0; n < 11; n++) { task("a", n); task("b", n); } return 1;`,
      async (it) => {
        for (const member of numbers(11)) await doneItem(it, member, 0);
        expect(it.open).toEqual(["family b"]);
        for (const member of numbers(11)) await it.completeMember("b", member);
      },
    );

    expect(order.status).toBe("succeeded success");
  });

  test("R23: are opened once only when some are closed in the same breath", async () => {
    const order = await run(
      `const early = Array.from({ length: 11 }, (_, n) => task("a", n));
       await race([early[0], 1]); await all(early.slice(1));`,
    );

    expect(order.open.filter((it) => it === "task a")).toHaveLength(10);
  });
});

describe("an item whose outcome cannot be decided", () => {
  const outcomes = async (it: Play) => {
    refuse(it, 3);
    refuse(it, 4);
    for (const member of numbers(12).filter((n) => n !== 3 && n !== 4)) {
      await doneItem(it, member, member);
    }
  };

  test.each([
    ["with sessions", undefined],
    ["without", NO_ROOM],
  ])("R17: waits for an incident, and runs again when that is resolved, %s", async (_, room) => {
    const order = await play(aCode(`return ${fan(12)};`, room));
    await outcomes(order);
    const waiting = [order.open, order.tokens];

    await order.resolve("a", { retries: 9 });
    const again = order.family("a");
    await doneItem(order, 3, 3);
    await doneItem(order, 4, 4);

    expect(waiting).toEqual([["family a", "incident a"], [{ element: "a", count: 2 }]]);
    expect(again).toMatchObject({ retries: 9 });
    expect(openIn(again)).toBe(2);
    expect(resultOf(order)).toEqual(numbers(12));
  });

  test("is called by its operation and its task", async () => {
    const order = await play(aCode(`task("before"); return ${fan(12)};`));
    refuse(order, 3);

    expect(incidentsOf(order)).toEqual(['STATE_TOO_LARGE: Operation 5, "a": too large']);
  });

  test("keeps its attempts if the resolution says none", async () => {
    const order = await play(aCode(`return ${fan(12)};`));
    refuse(order, 3);

    await order.resolve("a");

    expect(order.family("a")).toMatchObject({ retries: 3 });
    expect(openIn(order.family("a"))).toBe(12);
    expect(order.trail).toContain("incident-resolved a");
  });

  test("leaves with its incident when it times out or is disarmed", async () => {
    const order = await play(
      aCode(`try { await ${fan(12, '{ timeout: "1h" }')}; } catch {} await delay("1h");`),
    );
    await outcomes(order);

    await order.fire("a");

    expect(order.open).toEqual(["timer timer"]);
    expect(incidentsOf(order)).toEqual([]);
  });
});

describe("the limits of a step", () => {
  test("R23: 256 operations may be open; one more is a RangeError that can be caught", async () => {
    const order = await run(
      `const open = Array.from({ length: 256 }, (_, n) => task("a", n));
       try { task("b"); } catch (error: any) { return [error.name, error.message]; }`,
    );

    expect(openIn(order.family("a"))).toBe(256);
    expect(order.program.runner.result(order.instance)).toEqual([
      "RangeError",
      "A workflow may have 256 operations open at a time.",
    ]);
  });

  const AT_THE_LIMIT = `try { delay("1h"); }
    catch (error: any) { await open[0]; await task("b", [error.name, open.length]); }`;
  const told = (order: Play) =>
    order.program.runner.taskInput(order.instance, order.task("b")).input;

  test("R23: the deadline of the instance is none of the 256 operations", async () => {
    const order = await run(
      `const open = Array.from({ length: 256 }, () => delay("1h"));
       ${AT_THE_LIMIT}`,
      (it) => it.fire("timer"),
      { deadline: BEGIN + 86_400_000 },
    );

    expect(incidentsOf(order)).toEqual([]);
    expect(told(order)).toEqual(["RangeError", 256]);
  });

  test("R23: the timeout of a task is none of the 256 operations", async () => {
    const order = await run(
      `const open = Array.from({ length: 255 }, (_, n) => task("a" + n, null, { timeout: "1h" }));
       await delay("1s");
       open.push(task("a", null, { timeout: "1h" })); ${AT_THE_LIMIT}`,
      async (it) => {
        await it.fire("timer");
        await done(it, "a0");
      },
      { deadline: BEGIN + 86_400_000 },
    );

    expect(incidentsOf(order)).toEqual([]);
    expect(told(order)).toEqual(["RangeError", 256]);
    expect(order.instance.tickets.length).toBeGreaterThan(500);
  });

  test("R23: 30 waits may be opened in a step; more follow in the next", async () => {
    const order = await run(
      `const tried: string[] = [];
       const open = () => { try { for (let n = 0; n < 40; n++) event("e" + tried.length + n); } catch (error: any) { tried.push(error.name); } };
       open(); await delay("1s"); open(); await task("a", tried);`,
      (it) => it.fire("timer"),
    );

    expect(order.open.filter((it) => it.startsWith("event"))).toHaveLength(60);
    expect(order.program.runner.taskInput(order.instance, order.task("a")).input).toEqual([
      "RangeError",
      "RangeError",
    ]);
  });
});
