import { describe, expect, test } from "vitest";
import {
  MAX_JOURNAL_BYTES_PER_RUN,
  MAX_OPERATIONS_PER_RUN,
} from "../../../lib/definition/limits.ts";
import type { GuestSession } from "../../../lib/definition/sandbox.ts";
import type { Ticket } from "../../../lib/kernel/instance.ts";
import { done, incidentsOf, resultOf, run } from "../../support/code-play.ts";
import { aCode, aCodeOn } from "../../support/code-workflow.ts";
import { BEGIN, committed, play } from "../../support/play.ts";

describe("a step that does not end", () => {
  test("R23: is a STEP_LIMIT incident that keeps the fact", async () => {
    const order = await run('if (await task("a") === "loop") for (;;); return 1;', (it) =>
      done(it, "a", "loop"),
    );

    expect(incidentsOf(order)).toEqual([expect.stringMatching(/^STEP_LIMIT: /)]);
    expect(order.incident("a").kept).toMatchObject({
      fact: { kind: "task-completed", result: "loop" },
      ticket: { on: "task", type: "a" },
    });
    expect(order.instance.journal).toBeUndefined();
  });

  test("R23: leaves the others of the instance running", async () => {
    const order = await run(
      'const b = task("b").then((it) => it); if (await task("a") === "loop") for (;;) await null; return b;',
      async (it) => {
        await done(it, "a", "loop");
        await done(it, "b", 2);
      },
    );

    expect(order.open).toEqual(["incident a"]);
    expect(order.instance.journal?.entries).toHaveLength(1);
  });

  test("R23: at the start keeps the start", async () => {
    const order = await run("for (;;);");

    expect(order.incident("workflow")).toMatchObject({ type: "STEP_LIMIT" });
    expect(order.incident("workflow").kept?.fact?.kind).toBe("started");
  });
});

describe("a workflow that nothing can wake", () => {
  const STUCK = "DEADLOCK: The workflow waits for a promise that no operation will ever settle";

  test("R17: is a DEADLOCK at its start, with a deadline too", async () => {
    for (const options of [{}, { deadline: BEGIN + 1_000 }]) {
      const order = await run("await new Promise(() => {});", undefined, options);

      expect(incidentsOf(order)).toEqual([expect.stringContaining(STUCK)]);
    }
  });

  test("R17: is a DEADLOCK after a step", async () => {
    const order = await run('await task("a"); await new Promise(() => {});', (it) => done(it, "a"));

    expect(incidentsOf(order)).toEqual([expect.stringContaining(STUCK)]);
  });

  test("is none while a task is open that may settle it", async () => {
    const order = await run(
      `let wake = (_: unknown) => {}; task("a").then((it) => wake(it));
       return new Promise((resolve) => { wake = resolve; });`,
      (it) => done(it, "a", 1),
    );

    expect(resultOf(order)).toBe(1);
  });
});

describe("the limits of a run", () => {
  test("R23: R9: end a loop that never ends by itself, with an incident", async () => {
    const order = await play(
      aCode(`for (;;) await race([task("a"), ...Array.from({ length: 200 }, () => delay("1h"))]);`),
    );
    let steps = 0;
    while (order.open.includes("task a")) {
      await done(order, "a");
      steps += 1;
    }

    expect(steps * 201).toBeGreaterThan(MAX_OPERATIONS_PER_RUN - 201);
    expect(steps * 201).toBeLessThan(MAX_OPERATIONS_PER_RUN + 402);
    expect(incidentsOf(order)).toEqual([
      expect.stringContaining("STEP_LIMIT: One run may have 10000 operations and 8 MB of results."),
    ]);
  });

  /** A workflow that has opened these operations, and asks for nothing else. */
  const opened = (...numbers: readonly number[]) => {
    const operations = numbers.map((n) => ({ op: "task", n, type: `t${n}`, input: null }) as const);
    const run: GuestSession["run"] = async (feeds) =>
      feeds.map(({ done: fed }) => ({ kind: "ran", operations: fed ? [] : operations }));
    const guest = { declared: { workflows: [], steps: [] }, open: () => ({ run, close() {} }) };
    return play(aCodeOn(async () => guest));
  };
  const TOO_LONG = "STEP_LIMIT: One run may have 10000 operations and 8 MB of results.";

  test("R23: are 10,000 operations: the last is taken, one more is an incident", async () => {
    const order = await opened(1, MAX_OPERATIONS_PER_RUN - 1, MAX_OPERATIONS_PER_RUN);

    await done(order, "t10000");
    const most = incidentsOf(order);
    await done(order, "t10001");

    expect(most).toEqual([]);
    expect(order.instance.journal?.next).toBe(2);
    expect(incidentsOf(order)).toEqual([expect.stringContaining(TOO_LONG)]);
  });

  test("R23: are 8 MB of outcomes: one byte more is an incident", async () => {
    const room = MAX_JOURNAL_BYTES_PER_RUN - JSON.stringify(["t1", ""]).length;
    const [most, more] = [await opened(1, 2), await opened(1, 2)];

    await done(most, "t1", "x".repeat(room));
    await done(more, "t1", "x".repeat(room + 1));

    expect(incidentsOf(most)).toEqual([]);
    expect(incidentsOf(more)).toEqual([expect.stringContaining(TOO_LONG)]);
  });

  test("R23: count the bytes of large results", async () => {
    const order = await play(aCode('for (;;) await task("a");'));
    await done(order, "a", "small");
    const before = order.instance.state;
    const large = "x".repeat(1_000_000);
    let steps = 0;
    while (order.open.includes("task a")) {
      await done(order, "a", large);
      steps += 1;
    }

    expect(before).not.toHaveProperty("j");
    expect(steps).toBe(MAX_JOURNAL_BYTES_PER_RUN / 1_000_000);
    expect(incidentsOf(order)).toEqual([expect.stringContaining("STEP_LIMIT: One run may have")]);
  });
});

describe("an incident of a workflow in code", () => {
  const AGAIN = 'if (await task("a") === 1) for (;;); return "ok";';

  test("R17: takes the fact again when it is resolved", async () => {
    const order = await play(aCode(AGAIN));
    await done(order, "a", 1);
    Object.assign(order, { program: aCode('return "ok " + await task("a");') });

    await order.resolve("a");

    expect(resultOf(order)).toBe("ok 1");
  });

  test("R17: is not resolved with variables: the replay would not see them", async () => {
    const order = await play(aCode(AGAIN));
    await done(order, "a", 1);

    await order.resolve("a", { variables: { amount: 3 } });

    expect(incidentsOf(order)).toEqual([
      expect.stringContaining("so its variables cannot be changed. Resolve this incident without"),
    ]);
  });

  test("R17: of a start takes variables into its input, if that is an object", async () => {
    const body = "if (input.loop || input === 7) for (;;); return input;";
    const order = await play(aCode(body), { input: { loop: true, amount: 3 } });
    const number = await play(aCode(body), { input: 7 });

    await order.resolve("workflow", { variables: { loop: false } });
    await number.resolve("workflow", { variables: { loop: false } });
    const refused = incidentsOf(number);
    await number.resolve("workflow");

    expect(resultOf(order)).toEqual({ loop: false, amount: 3 });
    expect(refused).toEqual([
      expect.stringContaining("The input of this workflow is not an object"),
    ]);
    expect(incidentsOf(number)).toEqual([expect.stringContaining("STEP_LIMIT")]);
  });

  test("R17: of a start with nothing takes variables for its input, or stays without one", async () => {
    const body = "if (input === undefined) for (;;); return input;";
    const order = await play(aCode(body), { isBare: true });
    const bare = await play(aCode(body), { isBare: true });

    await order.resolve("workflow", { variables: { amount: 3 } });
    await bare.resolve("workflow");

    expect(resultOf(order)).toEqual({ amount: 3 });
    expect(incidentsOf(bare)).toEqual([expect.stringContaining("STEP_LIMIT")]);
  });

  test("R17: variables cannot be set from outside either", async () => {
    const order = await play(aCode('await task("a");'));

    await order.deliver({ kind: "variables-patched", variables: { amount: 3 } });

    expect(incidentsOf(order)).toEqual([
      expect.stringContaining("NON_DETERMINISM: A workflow in code"),
    ]);
    expect(order.open).toEqual(["task a", "incident workflow"]);
  });

  test("R3: keeps a workflow that has returned live until it is resolved", async () => {
    const order = await play(
      aCode('event("e").then(() => { for (;;); }); await task("a"); return 1;'),
    );
    await order.event("event:e", { eventId: "e1", seq: 1 });
    await done(order, "a");
    const waiting = [order.status, ...order.open];

    await order.resolve("event:e");

    expect(waiting).toEqual(["live", "incident event:e"]);
    expect(order.status).toBe("succeeded success");
  });

  test("R17: of a task that is disarmed is closed", async () => {
    const order = await play(
      aCode(
        'const a = task("a"); a.then(() => { for (;;); }); await race([a, delay("1h")]); await event("e");',
      ),
    );
    await done(order, "a");

    await order.fire("timer");

    expect(order.open).toEqual(["event event:e"]);
    expect(order.trail).toContain("element-terminated a");
  });

  test("R17: of a fact that code never waits for says so", async () => {
    const order = await play(aCode('await task("a");'));
    const ticket = { on: "continuation", id: "w9.1", ref: 0, element: "x", since: BEGIN, round: 1 };
    order.instance = committed({
      ...order.instance,
      tickets: [...order.instance.tickets, ticket as Ticket],
    });

    await order.deliver({ kind: "continued", ticket: "w9.1" });

    expect(incidentsOf(order)).toEqual([
      'UNKNOWN: A workflow in code does not wait for "continued".',
    ]);
  });
});
