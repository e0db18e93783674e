import { describe, expect, test } from "vitest";
import {
  type Answer,
  KnownTypes,
  type Numbered,
  readAnswer,
  readRequest,
  writeAnswer,
  writeRequest,
} from "../../../lib/adapters/quickjs/worker-protocol.ts";
import type { Operation, Ran } from "../../../lib/definition/sandbox.ts";

const opening = { workflow: "w", input: { a: [1] }, seed: "s", instance: {} };
const run = { kind: "run", session: 4, program: 2 } as const;
const done = JSON.stringify({ n: 3, value: { text: "a b\n{} ä€", list: [1, null] } });

const task = (parts: object = {}): Operation => ({
  op: "task",
  n: 7,
  at: [338, 39],
  type: "charge card",
  input: { text: "a b\n{}", nothing: null },
  ...parts,
});
const ran = (operations: readonly Operation[], parts: object = {}): Ran => ({
  kind: "ran",
  operations,
  ...parts,
});

describe("requests", () => {
  test.each<[string, Numbered["request"]]>([
    ["loads", { kind: "load", program: 1, bundle: "a\nb" }],
    ["one outcome", { ...run, feeds: [{ now: 1_795_059_498_666, done }] }],
    ["a first run", { ...run, opening, feeds: [{ now: 5 }] }],
    ["a replay", { ...run, opening, feeds: [{ now: 5 }, { now: 6, done }] }],
    [
      "several outcomes",
      {
        ...run,
        feeds: [
          { now: 5, done },
          { now: 6, done },
        ],
      },
    ],
    ["a feed without an outcome", { ...run, feeds: [{ now: 5 }] }],
    ["closings", { kind: "close", session: 9 }],
  ])("are read as they were written: %s", (_, request) => {
    expect(readRequest(writeRequest({ id: 12, request }))).toEqual({ id: 12, request });
  });
});

describe("answers", () => {
  const declared: Answer = {
    id: 1,
    declared: { workflows: ["w"], steps: ["other", "charge card"] },
  };

  test.each<[string, Answer]>([
    ["what is declared", declared],
    ["problems", { id: 2, problem: { message: "no" } }],
    ["one task", { id: 3, ran: [ran([task()])] }],
    ["one task of another type", { id: 3, ran: [ran([task({ type: "of a worker" })])] }],
    ["one task with options", { id: 3, ran: [ran([task({ options: { timeout: "PT1S" } })])] }],
    ["one task without a place", { id: 3, ran: [ran([task({ at: undefined })])] }],
    ["one task and the end", { id: 3, ran: [ran([task()], { end: { value: 1 } })] }],
    ["one task for an unknown outcome", { id: 3, ran: [ran([task()], { isUnknown: true })] }],
    ["several tasks", { id: 3, ran: [ran([task(), task({ n: 8 })])] }],
    ["several feeds", { id: 3, ran: [ran([task()]), ran([])] }],
    ["nothing", { id: 3, ran: [ran([])] }],
    ["a timer", { id: 3, ran: [ran([{ op: "timer", n: 1, after: "PT1S" }])] }],
    ["a stop", { id: 3, ran: [{ kind: "stopped", stop: "fuel", message: "m" }] }],
  ])("are read as they were written: %s", (_, answer) => {
    const [thread, host] = [new KnownTypes(), new KnownTypes()];
    thread.learn(declared);
    host.learn(readAnswer(writeAnswer(declared, thread), host));

    const expected = JSON.parse(JSON.stringify(answer));
    expect(readAnswer(writeAnswer(answer, thread), host)).toEqual(expected);
  });

  test("give each type one number, however often it is declared", () => {
    const types = new KnownTypes();
    types.learn({ id: 1, declared: { workflows: [], steps: ["a", "b"] } });
    types.learn({ id: 2, declared: { workflows: [], steps: ["b", "c"] } });

    expect(["a", "b", "c", "d"].map((name) => types.numberOf(name))).toEqual([0, 1, 2, undefined]);
    expect([0, 1, 2].map((number) => types.nameOf(number))).toEqual(["a", "b", "c"]);
  });
});
