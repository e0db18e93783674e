import { describe, expect, test } from "vitest";
import { MAX_CALL_DEPTH, MAX_TICKETS_OF_FAILED } from "../../../lib/definition/limits.ts";
import { findTicket, itemName, openIn } from "../../../lib/kernel/batch.ts";
import { decideIncident } from "../../../lib/kernel/decide.ts";
import type { ChildEnded } from "../../../lib/kernel/fact.ts";
import { holdsFailedItems } from "../../../lib/kernel/failed-items.ts";
import type { CallBatch, ChildTicket } from "../../../lib/kernel/instance.ts";
import {
  aBoundaryError,
  aBoundaryTimer,
  aCall,
  aLoop,
  aProcess,
  aStart,
  aTask,
  type Piece,
} from "../../support/graph-builder.ts";
import { givenAt, type Play, play } from "../../support/play.ts";

const N = 12;
const items = Array.from({ length: N }, (_, n) => n);
const all = (size: number) => Array.from({ length: size }, (_, n) => n);

/** `a`, with its boundary events, and a task after each. */
const around = (looping: Piece, ...border: readonly Piece[]) =>
  aProcess(
    [aStart(), looping, aTask("after"), ...border, ...(border.length > 0 ? [aTask("late")] : [])],
    ["start -> a -> after", ...border.map(({ nodes }) => `${nodes[0]?.id} -> late`)],
  );

type Options = Parameters<typeof aCall>[1];

const gathering = aLoop({ gathers: "=result", preset: "result" });
const calling = (options: Options = {}) =>
  aCall("a", { process: "child", loop: gathering, ...options });

function familiesIn({ instance }: Play): readonly CallBatch[] {
  return instance.tickets.filter((it) => it.on === "family").filter((it) => "call" in it);
}

/** The item as a call, of the batch that was opened last. */
function memberIn(order: Play, n: number): ChildTicket {
  const family = familiesIn(order).at(-1);
  const ticket = findTicket(order.instance.tickets, itemName(family?.id ?? "none", n));
  if (ticket?.on !== "child") throw new Error(`no call of entry ${n} is open: ${order.open}`);
  return ticket;
}

const nameOf = (order: Play, n: number) => itemName(familiesIn(order).at(-1)?.id ?? "none", n);

const givenTo = (order: Play, n: number) =>
  order.program.runner.callInput(order.instance, memberIn(order, n));

const ends = (order: Play, n: number, how: Partial<ChildEnded> = {}) =>
  order.deliver({
    kind: "child-ended",
    ticket: nameOf(order, n),
    childId: `child-${n}`,
    status: "succeeded",
    terminationKind: "success",
    result: {},
    ...how,
  });

const fails = (order: Play, n: number, error?: ChildEnded["error"]) =>
  order.deliver({
    kind: "child-ended",
    ticket: nameOf(order, n),
    childId: `child-${n}`,
    status: "failed",
    terminationKind: "failure",
    ...(error && { error }),
  });

const refuses = (order: Play, n: number) =>
  order.deliver({ kind: "child-refused", ticket: nameOf(order, n), message: "no such process" });

/** Cancel effects that the instance has not sent yet. */
const cancels = ({ instance }: Play) =>
  instance.outbox.flatMap(({ effect }) => (effect.kind.startsWith("cancel") ? [effect] : []));

const shelvesIn = ({ instance }: Play) => instance.tickets.filter(holdsFailedItems);

describe("a batch of calls", () => {
  test("F57 F58: is one ticket, and collects the results of its children in the order of the list", async () => {
    const order = await play(around(calling()), { variables: { items } });
    const { open } = order;

    for (const n of items.toReversed())
      await ends(order, n, { result: { result: n * 2, last: n } });

    expect(open).toEqual(["family a"]);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({ items, results: items.map((n) => n * 2), last: 0 });
    expect(order.trail.filter((line) => line === "element-entered a")).toHaveLength(N + 1);
    expect(order.trail.filter((line) => line === "element-completed a")).toHaveLength(N + 1);
    const told = order.instance.trail.entries.filter(({ type }) => type === "child-ended");
    expect(told.map(({ data }) => data)).toMatchObject(
      items.toReversed().map((n) => ({ childId: `child-${n}`, loopCounter: n + 1 })),
    );
  });

  test("F57: passes to each child what was visible when the loop started, and its own entry", async () => {
    const order = await play(around(calling({ inputs: { label: '="n" + string(item)' } })), {
      variables: { items, x: 1 },
    });

    await order.deliver({ kind: "variables-patched", variables: { x: 2 } });
    await ends(order, 0, { result: { x: 3 } });

    const own = { item: 4, loopCounter: 5, result: null, label: "n4" };
    expect(givenTo(order, 4)).toEqual({ items, x: 1, ...own });
    expect(memberIn(order, 4)).toMatchObject({ process: "child", member: 4 });
  });

  test("F57: passes only the item's own variables if specified", async () => {
    const order = await play(around(calling({ passesAll: false, loop: aLoop() })), {
      variables: { items, x: 1 },
    });

    expect(givenTo(order, 4)).toEqual({ item: 4, loopCounter: 5 });
  });

  test("F57: keeps its version binding and the error codes caught around it", async () => {
    const border = aBoundaryError("e", { on: "a", code: "NO" });
    const order = await play(around(calling({ binding: { tag: "v1" } }), border), {
      variables: { items },
    });

    expect(memberIn(order, 0)).toMatchObject({ binding: { tag: "v1" }, catches: ["NO"] });
  });

  test("S4: takes the result of each child once (race 49)", async () => {
    const order = await play(around(calling()), { variables: { items } });
    const ticket = nameOf(order, 5);
    await ends(order, 5);

    const twice = await ends(order, 5, { ticket });
    const refused = await refuses(order, 5);
    const beyond = await ends(order, N);

    expect([twice.changed, refused.changed, beyond.changed]).toEqual([false, false, false]);
    expect(openIn(order.family("a"))).toBe(N - 1);
  });

  test("F58: cancels the children that are no longer needed when its condition holds", async () => {
    const until = "=numberOfCompletedInstances = 3 and numberOfActiveInstances = 9";
    const order = await play(around(calling({ loop: aLoop({ gathers: "=item", until }) })), {
      variables: { items },
      holdsBack: true,
    });
    const { id } = order.family("a");

    for (const n of [11, 0, 4]) await ends(order, n);

    const [only, ...more] = cancels(order);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables.results).toEqual(items.map((n) => ([11, 0, 4].includes(n) ? n : null)));
    expect([only, more]).toMatchObject([{ kind: "cancel-children", family: id, size: N }, []]);
    expect(only?.kind === "cancel-children" && openIn(only)).toBe(N - 3);
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(N - 3);
  });

  test("cancels nothing when all of its children have ended", async () => {
    const order = await play(around(calling()), { variables: { items }, holdsBack: true });

    for (const n of items) await ends(order, n);

    expect(cancels(order)).toEqual([]);
  });

  test.each([
    ["its border interrupts it", (order: Play) => order.fire("t"), ["task late"]],
    ["its instance is cancelled", (order: Play) => order.cancel(), []],
  ])("cancels what it waits for when %s", async (_, interrupt, open) => {
    const border = aBoundaryTimer("t", { on: "a", duration: "PT1H" });
    const order = await play(around(calling(), border), { variables: { items }, holdsBack: true });
    await ends(order, 3);
    const late = nameOf(order, 1);

    await interrupt(order);
    const { changed } = await ends(order, 1, { ticket: late });

    expect([order.open, changed]).toEqual([open, false]);
    expect(cancels(order)).toMatchObject([{ kind: "cancel-children", size: N }]);
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(N);
  });

  test("throws the first error of a child to its boundary event, which ends the others", async () => {
    const border = aBoundaryError("e", { on: "a", code: "NO" });
    const order = await play(around(calling(), border), { variables: { items }, holdsBack: true });

    await fails(order, 2, { code: "NO", message: "so", variables: { why: "rain" } });

    expect(order.open).toEqual(["task late"]);
    expect(cancels(order)).toMatchObject([{ kind: "cancel-children" }]);
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(N + 1);
  });

  test("has an incident for a child that failed, and calls again for it alone", async () => {
    const order = await play(around(calling()), { variables: { items } });
    await fails(order, 7, { message: "it broke" });
    for (const n of items) if (n !== 7) await ends(order, n, { result: { result: n } });
    const stopped = [order.open, order.incident("a").type, order.incident("a").message];

    await order.resolve("a", { variables: { hint: "now" } });
    const again = order.instance.tickets.find((it) => it.on === "child");
    const ended = { status: "succeeded", terminationKind: "success" } as const;
    const told = { kind: "child-ended", ticket: again?.id ?? "", childId: "second" } as const;
    await order.deliver({ ...told, ...ended, result: { result: "mended" } });

    expect(stopped).toEqual([
      ["family a", "incident a"],
      "UNHANDLED_ERROR_EVENT",
      expect.stringContaining("Entry 8 of the list: No boundary event catches"),
    ]);
    expect(again).toMatchObject({ variables: { item: 7, loopCounter: 8, hint: "now" } });
    expect(order.variables.results).toEqual(items.map((n) => (n === 7 ? "mended" : n)));
  });

  test("has an incident for a child that cannot start", async () => {
    const order = await play(around(calling()), { variables: { items } });

    await refuses(order, 7);

    const message = "Entry 8 of the list: no such process";
    expect(order.incident("a")).toMatchObject({ type: "CALLED_ELEMENT_ERROR", message });
    expect(openIn(order.family("a"))).toBe(N - 1);
  });

  test("fails its instance with an error that only a caller above catches", async () => {
    const parent = { instanceId: "above", ticket: "f1.1#3", depth: 1, catches: ["NO"] } as const;
    const order = await play(around(calling()), { variables: { items }, parent, holdsBack: true });

    await fails(order, 2, { code: "NO", message: "so" });

    expect(order.status).toBe("failed failure");
    expect(cancels(order)).toMatchObject([{ kind: "cancel-children" }]);
  });

  test("of detached calls completes when all have started, and cancels none", async () => {
    const looping = calling({
      detached: true,
      outputs: { result: "=childInstanceId" },
    });
    const border = aBoundaryTimer("t", { on: "a", duration: "PT1H" });
    const order = await play(around(looping, border), { variables: { items }, holdsBack: true });
    const cut = await play(around(looping, border), { variables: { items }, holdsBack: true });
    const begins = (n: number) =>
      order.deliver({ kind: "child-started", ticket: nameOf(order, n), childId: `child-${n}` });

    for (const n of items) await begins(n);
    await cut.fire("t");

    expect(order.open).toEqual(["task after"]);
    expect(order.variables.results).toEqual(items.map((n) => `child-${n}`));
    expect(cut.open).toEqual(["task late"]);
    expect(cancels(cut)).toEqual([]);
  });

  test("has one incident for all failures beyond the limit of an instance, and calls again", async () => {
    const size = MAX_TICKETS_OF_FAILED + 40;
    const order = await play(around(calling({ process: "=which" })), {
      variables: { items: all(size), which: "nothing" },
    });
    const [first] = familiesIn(order);
    for (const n of all(size)) await (n % 2 === 0 ? refuses(order, n) : fails(order, n));
    const { tickets } = order.instance;
    const [refused, failed] = shelvesIn(order);

    await order.deliver({
      kind: "incident-resolved",
      ticket: refused?.id ?? "",
      variables: { which: "child" },
    });
    const [old, anew] = familiesIn(order);
    await order.deliver({ kind: "incident-resolved", ticket: failed?.id ?? "" });
    const left = familiesIn(order);

    expect(tickets.length).toBeLessThan(MAX_TICKETS_OF_FAILED + 3);
    expect([refused, failed].map((it) => it?.members.numbers.length)).toEqual([21, 20]);
    // The incident whose other items are not resolved yet stays.
    expect(old?.id).toBe(first?.id);
    expect(anew?.call).toMatchObject({ process: "child", variables: { which: "child" } });
    expect(anew && openIn(anew)).toBe(21);
    expect(left.map((family) => openIn(family))).toEqual([21, 20]);
    expect(left.map(({ id }) => id)).not.toContain(first?.id);
  });

  test("evaluates the entries again when they are called again", async () => {
    const size = MAX_TICKETS_OF_FAILED + 4;
    const process = '=if which = "even" and odd(item) then "odd" else which';
    const order = await play(around(calling({ process })), {
      variables: { items: all(size), which: "nothing" },
    });
    for (const n of all(size)) await refuses(order, n);
    const [shelf] = shelvesIn(order);
    const ticket = shelf?.id ?? "";

    await order.deliver({ kind: "incident-resolved", ticket, variables: { which: "even" } });

    const named = familiesIn(order).map(({ call }) => call.process);
    expect(named.toSorted()).toEqual(["even", "odd"]);
  });

  test("continues the others when a child's result cannot be stored, and reads it again", async () => {
    const order = await play(around(calling()), { variables: { items } });
    const { id } = order.family("a");
    const why = { type: "STATE_TOO_LARGE", message: "too much" } as const;
    const ended = { childId: "c", status: "succeeded", terminationKind: "success" } as const;
    for (const n of [1, 2]) {
      const fact = { kind: "child-ended", ticket: itemName(id, n), ...ended } as const;
      const given = givenAt(order.now);
      const { instance } = decideIncident(order.program, order.instance, { fact, why }, given);
      order.instance = { ...instance, version: instance.version + 1 };
    }
    const stopped = [order.open, openIn(order.family("a"))];

    await order.resolve("a", { retries: 3 });

    expect(stopped).toEqual([["family a", "incident a"], N - 2]);
    expect(order.open).toEqual(["family a"]);
    expect([order.family("a").id, openIn(order.family("a"))]).toEqual([id, N]);
    expect(order.family("a")).not.toHaveProperty("retries");
  });

  test("is not used for calls of different processes, nor for ten or fewer", async () => {
    const process = '="child" + string(item)';
    const mixed = await play(around(calling({ process })), { variables: { items } });
    const few = await play(around(calling()), { variables: { items: all(10) } });

    expect(mixed.open).toEqual(items.map(() => "child a"));
    expect(few.open).toEqual(all(10).map(() => "child a"));
  });

  test("reports for which entry a call cannot be computed", async () => {
    const order = await play(around(calling({ process: '=if item = 5 then "" else "child"' })), {
      variables: { items },
    });

    expect(order.incident("a")).toMatchObject({
      type: "EXTRACT_VALUE_ERROR",
      message: expect.stringContaining("Entry 6 of the list: The id of the process"),
    });
  });

  test("is refused as a whole if its depth would exceed the limit", async () => {
    const parent = { instanceId: "above", ticket: "c1.1", depth: MAX_CALL_DEPTH };
    const order = await play(around(calling()), { variables: { items }, parent });

    expect(order.open).toEqual(["incident a"]);
    expect(order.incident("a").type).toBe("CALLED_ELEMENT_ERROR");
  });
});
