import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { decide } from "../../../lib/kernel/decide.ts";
import type { JournalEntry } from "../../../lib/kernel/trail.ts";
import { done, incidentsOf, NO_ROOM, resultOf } from "../../support/code-play.ts";
import { aBody, aCode, aCodeDefinition, aCodeOn, aGuest } from "../../support/code-workflow.ts";
import { BEGIN, committed, frozen, givenAt, type Play, play } from "../../support/play.ts";

const BODY =
  'const a = await task("a"); const b = await task("b"); return [a, b, await task("c")];';

/** Two of its three tasks are done; every decision replays. */
async function twoDone(body = BODY): Promise<Play> {
  const order = await play(aCode(body, NO_ROOM));
  await done(order, "a", 1);
  await done(order, "b", 2);
  return order;
}

/** Where the operation of its incident was called. */
const siteOf = ({ instance }: Play) =>
  instance.tickets.flatMap((open) => (open.on === "incident" ? [open.site] : []))[0];

type Change = (entries: readonly JournalEntry[]) => readonly unknown[];

function withJournal(order: Play, change: Change): void {
  const { next = 1, entries = [] } = order.instance.journal ?? {};
  const tampered = change(entries) as readonly JournalEntry[];
  order.instance = committed({ ...order.instance, journal: { next, entries: tampered } });
}

const changed = (at: number, entry: unknown) => (entries: readonly JournalEntry[]) =>
  entries.with(at, entry as JournalEntry);

describe("a journal that was tampered with", () => {
  test.each<[string, Change, string]>([
    [
      "the outcome of another task",
      changed(0, [1, BEGIN, ["z", 1]]),
      "Entry 1 of the journal is the outcome of operation 1, z; the workflow has a there.",
    ],
    [
      "the outcome of a wait",
      changed(1, [2, BEGIN, ["timer", 1]]),
      "Entry 2 of the journal is the outcome of operation 2, timer; the workflow has b there.",
    ],
    [
      "an operation that is not open",
      changed(1, [9, BEGIN, ["b", 2]]),
      "Entry 2 of the journal is the outcome of operation 9, b; the workflow has no such operation open there.",
    ],
    ["another result", changed(1, [2, BEGIN, ["b", 3]]), "The journal does not have the digest"],
    ["another time", changed(1, [2, BEGIN + 1, ["b", 2]]), "The journal does not have the digest"],
    ["no list", changed(0, [1, BEGIN, "a"]), "Entry 1 of the journal is damaged."],
    ["no outcome", changed(1, [2, BEGIN, ["b"]]), "Entry 2 of the journal is damaged."],
    ["no element", changed(0, [1, BEGIN, [7, 1]]), "Entry 1 of the journal is damaged."],
  ])(
    "R17: D18: fails cleanly, and says what was expected and found: %s",
    async (_, change, why) => {
      const order = await twoDone();
      const before = order.instance;
      withJournal(order, change);

      await done(order, "c", 3);

      expect(incidentsOf(order)).toEqual([
        expect.stringContaining(`NON_DETERMINISM: The replay does not fit the journal. ${why}`),
      ]);
      order.instance = frozen({
        ...order.instance,
        journal: before.journal ?? { next: 1, entries: [] },
      });
      await order.resolve("c");
      expect(resultOf(order)).toEqual([1, 2, 3]);
    },
  );

  test("D18: is refused when the state has another digest", async () => {
    const order = await twoDone();
    const state = { ...(order.instance.state as object), d: "other" } as Json;
    order.instance = committed({ ...order.instance, state });

    await done(order, "c", 3);

    expect(incidentsOf(order)[0]).toContain("does not have the digest");
  });

  test("D18: does not touch other instances", async () => {
    const [order, other] = [await twoDone(), await twoDone()];
    withJournal(order, changed(0, [1, BEGIN, ["z", 1]]));
    await done(order, "c", 3);

    await done(other, "c", 3);

    expect(other.status).toBe("succeeded success");
  });
});

describe("a state that was tampered with", () => {
  test.each<[string, Json]>([
    ["a text", "state"],
    ["no input", { d: "", o: [] }],
    ["no digest", { i: 1, o: [] }],
    ["no operations", { i: 1, d: "" }],
    ["a damaged operation", { i: 1, d: "", o: [["one"]] }],
    ["an operation that is none", { i: 1, d: "", o: [1] }],
  ])("R17: fails cleanly: %s", async (_, state) => {
    const order = await twoDone();
    const { id } = order.task("c");
    order.instance = committed({ ...order.instance, state });

    await order.deliver({ kind: "task-completed", ticket: id, variables: {} });

    expect(incidentsOf(order)).toEqual([
      expect.stringContaining("NON_DETERMINISM: The stored state of the workflow is damaged"),
    ]);
  });

  test.each<[string, readonly Json[], string, unknown?]>([
    [
      "more",
      [
        [3, 0, null],
        [9, 0],
      ],
      "has the operations 3, 9 open, the replayed workflow 3.",
    ],
    [
      "more, with their places",
      [
        [3, 0, null],
        [9, [7, 8]],
      ],
      "has the operations 3, 9 open, the replayed workflow 3.",
      [7, 8],
    ],
    ["none", [], "c is open, and its operation 3 is not."],
  ])("R17: D18: fails when other operations are open: %s", async (_, o, why, site) => {
    const order = await twoDone();
    const { id } = order.task("c");
    const state = { ...(order.instance.state as object), o } as Json;
    order.instance = committed({ ...order.instance, state });

    await order.deliver({ kind: "task-completed", ticket: id, variables: {} });

    expect(incidentsOf(order)[0]).toContain(why);
    expect(siteOf(order)).toEqual(site);
  });

  test("R17: D14: can still be looked at, and be cancelled", async () => {
    const order = await twoDone();
    order.instance = committed({ ...order.instance, state: { i: 1 } });

    const { runner } = order.program;
    const seen = [runner.view(order.instance).tokens, runner.places(order.instance.state)];
    await order.cancel();

    expect(seen).toEqual([[{ element: "c", count: 1 }], []]);
    expect(order.status).toBe("cancelled cancel");
  });

  test("a task without its operation has no input", async () => {
    const order = await twoDone();
    const ticket = order.task("c");
    const state = { ...(order.instance.state as object), o: [] } as Json;

    const { input } = order.program.runner.taskInput({ ...order.instance, state }, ticket);
    const item = { ...ticket, member: 3 };

    expect(input).toBeNull();
    expect(order.program.runner.taskInput(order.instance, item).input).toBeNull();
    expect(
      (await order.deliver({ kind: "task-completed", ticket: "k9.9", variables: {} })).changed,
    ).toBe(false);
  });
});

describe("other code under the same journal", () => {
  const playedUnder = async (body: string, before = BODY) => {
    const order = await twoDone(before);
    Object.assign(order, { program: aCode(body, NO_ROOM) });
    await done(order, "c", 3);
    return order;
  };
  const under = async (body: string) => incidentsOf(await playedUnder(body))[0];

  test("D18: is refused if it does something else", async () => {
    expect(await under('await task("a"); await delay("1h"); await task("c");')).toContain(
      "Entry 2 of the journal is the outcome of operation 2, b; the workflow has timer there.",
    );
  });

  test("D18: has the place of what the program does instead", async () => {
    const first = 'await task("a");';
    const other = await playedUnder(`${first} await delay("1h");`);
    const more = await playedUnder(`${first} await task("b"); event("e"); await task("c");`);
    const ended = await playedUnder("return 1;");

    const [line, column] = [expect.any(Number), expect.any(Number)];
    expect([siteOf(other), siteOf(more), siteOf(ended)]).toEqual([
      [line, column],
      [line, column],
      undefined,
    ]);
    expect(siteOf(other)).not.toEqual(siteOf(more));
  });

  test("D18: is refused if it has ended meanwhile", async () => {
    expect(await under('await task("a"); await task("b"); task("c"); return 1;')).toContain(
      "The instance is still running after entry 2 of the journal; the replayed workflow has ended.",
    );
  });

  test("D18: is refused if it waits for more, or for nothing", async () => {
    const more = await under('await task("a"); await task("b"); event("e"); await task("c");');
    const none = await under('await task("a"); await task("b"); await new Promise(() => {});');

    expect(more).toContain("has the operations 3 open, the replayed workflow 3, 4.");
    expect(none).toContain("has the operations 3 open, the replayed workflow none.");
  });

  test("is taken if it does the same", async () => {
    expect(
      await under('await task("a"); await task("b"); return task("c", "other input");'),
    ).toBeUndefined();
  });
});

describe("a journal of which a part has left the instance", () => {
  const elements = ["workflow", "a", "b", "c"];
  const load = () => aGuest(aBody(BODY));
  const program = aCodeOn(load, NO_ROOM, { ...aCodeDefinition(), elements });

  const spilled = async () => {
    const order = await play(program);
    await done(order, "a", 1);
    await done(order, "b", 2);
    const entries = order.instance.journal?.entries ?? [];
    const rest = { next: 3, entries: entries.slice(1) };
    const instance = committed({ ...order.instance, journal: rest });
    const fact = {
      kind: "task-completed",
      ticket: order.task("c").id,
      variables: {},
      result: 3,
    } as const;
    return {
      entries,
      decideWith: (past: object) =>
        decide(program, instance, fact, { ...givenAt(order.now), ...past }),
    };
  };

  test("D1: is replayed with that part, elements by their place", async () => {
    const { entries, decideWith } = await spilled();

    const { instance } = await decideWith({ pastJournal: () => entries.slice(0, 1) });

    expect(entries).toEqual([
      [1, BEGIN, [1, 1]],
      [2, BEGIN, [2, 2]],
    ]);
    expect(program.runner.result(instance)).toEqual([1, 2, 3]);
    expect(instance.journal?.next).toBe(4);
  });

  test("D1: may be given longer than what is missing", async () => {
    const { entries, decideWith } = await spilled();

    const { instance } = await decideWith({ pastJournal: () => entries });

    expect(instance.status).toBe("succeeded");
  });

  test.each([
    ["was not read", {}],
    ["is not there", { pastJournal: () => undefined }],
    ["is too short", { pastJournal: () => [] }],
  ])("R17: is an incident if that part %s", async (_, past) => {
    const { decideWith } = await spilled();

    const { instance } = await decideWith(past);

    expect(instance.tickets).toMatchObject([
      { on: "incident", message: "A part of the journal that the replay needs is not stored." },
    ]);
  });

  test("D2: is replayed at its own times", async () => {
    const clock = aCode(
      'await task("a"); const at = Date.now(); await task("b"); return at;',
      NO_ROOM,
    );
    const order = await play(clock);
    order.now = BEGIN + 7;
    await done(order, "a");
    order.now = BEGIN + 90;
    const [entry] = order.instance.journal?.entries ?? [];

    await done(order, "b");

    expect(entry?.[1]).toBe(instantFrom(BEGIN + 7));
    expect(resultOf(order)).toBe(BEGIN + 7);
  });
});
