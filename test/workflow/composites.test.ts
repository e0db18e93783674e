import { describe, expect, test } from "vitest";
import { quickjsSandbox } from "../../lib/adapters/quickjs/sandbox.ts";
import type { Outcome, Ran } from "../../lib/definition/sandbox.ts";
import { sourceOf } from "../bundler/author-folder.ts";

/** Runs a workflow as an author writes it, and hands it outcomes by the types of its tasks. */
async function started(body: string) {
  const source = await sourceOf({
    "order.ts": `import { all, any, delay, race, task, workflow } from "fermata-engine/workflow";\n${body}`,
  });
  const loaded = await quickjsSandbox().load(source);
  if (!loaded.ok) throw new Error(loaded.problem.message);
  const opening = { workflow: "order", input: null, seed: "seed", instance: {} };
  const session = loaded.program.open(opening);
  const open = new Map<number, string>();
  const seen = { closed: [] as string[], end: undefined as unknown };

  const take = ([ran]: readonly Ran[]) => {
    if (ran?.kind !== "ran" || ran.isUnknown) throw new Error(JSON.stringify(ran));
    for (const operation of ran.operations) {
      if (operation.op === "task") open.set(operation.n, operation.type);
      if (operation.op === "timer") open.set(operation.n, "timer");
      if (operation.op !== "close") continue;
      seen.closed.push(open.get(operation.n) ?? "");
      open.delete(operation.n);
    }
    seen.end = ran.end;
  };
  const settle = async (type: string, outcome: Outcome) => {
    const [n = 0] = [...open].find(([, name]) => name === type) ?? [];
    open.delete(n);
    take(await session.run([{ now: 0, done: { n, ...outcome } }]));
  };
  take(await session.run([{ now: 0 }]));
  return {
    complete: (type: string) => settle(type, { value: type }),
    fail: (type: string) => settle(type, { failure: { name: "TaskFailed", message: type, type } }),
    open: () => [...open.values()],
    closed: () => seen.closed,
    end: () => seen.end,
  };
}

describe("a composite whose members are written out", () => {
  test("disarms all that a losing function has open", async () => {
    const run = await started(`
const slow = async () => { void task("audit"); await task("first"); void task("log"); await task("second"); };
export const order = workflow("order", async () => {
  await race([slow(), task("quick")]);
  await task("after");
});`);
    await run.complete("first");
    await run.complete("quick");

    expect(run.closed()).toEqual(["audit", "log", "second"]);
    expect(run.open()).toEqual(["after"]);
  });

  test("leaves alone what the winner has not awaited, and what comes after", async () => {
    const run = await started(`
const quick = async () => { void task("audit"); await task("first"); void task("log"); return "quick"; };
export const order = workflow("order", async () => {
  const { key } = await race({ quick: quick(), timeout: delay("1h"), slow: quick2() });
  await task("after " + key);
});
async function quick2() { await task("slow"); }`);
    await run.complete("first");

    expect(run.closed()).toEqual(["timer", "slow"]);
    expect(run.open()).toEqual(["audit", "log", "after quick"]);
  });

  test("disarms of all() what has not settled when one member fails", async () => {
    const run = await started(`
const one = async (name: string) => { await task(name); void task(name + " left"); };
const two = async () => { await task("c"); await task("d"); };
export const order = workflow("order", async () => {
  try { await all([one("a"), one("b"), two()]); } catch { await task("after"); }
});`);
    await run.complete("a");
    await run.complete("c");
    await run.fail("b");

    expect(run.closed()).toEqual(["d"]);
    expect(run.open()).toEqual(["a left", "after"]);
  });

  test("disarms what is nested, and goes on where it was called", async () => {
    const run = await started(`
const inner = async () => { await all([nested(), task("b")]); };
const nested = async () => { await task("a1"); await task("a2"); };
const within = async () => race([inner(), task("quick")]);
export const order = workflow("order", async () => {
  await race([outer(), delay("1h")]);
  await task("end");
});
async function outer() {
  for (const round of [1, 2]) { await within(); await task("after " + round); }
}`);
    await run.complete("a1");
    await run.complete("quick");
    expect(run.closed()).toEqual(["b", "a2"]);
    expect(run.open()).toEqual(["timer", "after 1"]);

    await run.complete("after 1");
    expect(run.open()).toEqual(["timer", "a1", "b", "quick"]);

    await run.complete("timer");
    expect(run.closed().slice(2).toSorted()).toEqual(["a1", "b", "quick"]);
    expect(run.open()).toEqual(["end"]);
  });

  test("rejects what a losing function waits for, so that it can clean up", async () => {
    const run = await started(`
const careful = async () => {
  try { await task("work"); } catch (error) { await task("undo " + (error as Error).name); }
};
export const order = workflow("order", async () => { await race([careful(), task("quick")]); await task("after"); });`);
    await run.complete("quick");

    expect(run.open().toSorted()).toEqual(["after", "undo CancelledFailure"]);
  });
});

describe("a composite whose members come from elsewhere", () => {
  const HANDLE = `
const handle = async (name: string) => { await task(name + "1"); void task(name + " log"); await task(name + "2"); return name; };`;

  test("disarms what the losers have open, and leaves what followed in the winner", async () => {
    const run = await started(`${HANDLE}
export const order = workflow("order", async () => {
  const winner = await race(["a", "b", "c"].map(handle));
  await task("after " + winner);
});`);
    await run.complete("a1");
    await run.complete("b1");
    await run.complete("b2");

    expect(run.closed().toSorted()).toEqual(["a log", "a2", "c1"]);
    expect(run.open()).toEqual(["b log", "after b"]);
  });

  test("tells the winner apart after a composite of its own", async () => {
    const run = await started(`
const handle = async (name: string) => {
  await race([task(name + "1"), delay("1h")]);
  void task(name + " log");
  return name;
};
export const order = workflow("order", async () => {
  const winner = await any(["a", "b"].map(handle));
  await task("after " + winner);
});`);
    await run.complete("b1");

    expect(run.closed()).toEqual(["timer", "a1", "timer"]);
    expect(run.open()).toEqual(["b log", "after b"]);
  });

  test("disarms of all() what has not settled when one member fails", async () => {
    const run = await started(`
const handle = async (name: string) => { await task(name); void task(name + " log"); };
export const order = workflow("order", async () => {
  await all(["a", "b", "c"].map(handle)).catch(() => task("after"));
});`);
    await run.complete("a");
    await run.fail("b");

    expect(run.closed()).toEqual(["c"]);
    expect(run.open()).toEqual(["a log", "after"]);
  });

  test("may have members that are written out beside them", async () => {
    const run = await started(`${HANDLE}
export const order = workflow("order", async () => {
  const winner = await race([...["a", "b"].map(handle), own()]);
  await task("after " + winner);
});
async function own() { void task("own log"); await task("own"); return "own"; }`);
    await run.complete("a1");
    await run.complete("own");

    expect(run.closed().toSorted()).toEqual(["a log", "a2", "b1"]);
    expect(run.open()).toEqual(["own log", "after own"]);
  });
});

test("composites of nothing settle at once, or are refused", async () => {
  const run = await started(`
const first = async () => { await all([]); await task("first"); };
export const order = workflow("order", async () => {
  const none = await any([]).catch((error: AggregateError) => error.errors.length);
  const refused = await Promise.resolve().then(() => race([])).catch((error: Error) => error.name);
  await race([[] as never, first()].slice(1));
  return [await all({}), none, refused];
});`);
  await run.complete("first");

  expect(run.end()).toEqual({ value: [{}, 0, "RangeError"] });
});
