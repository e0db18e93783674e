import { describe, expect, test } from "vitest";
import {
  MAX_GUEST_OUTPUT_BYTES,
  MAX_OPEN_OPERATIONS,
  MAX_OPERATIONS_PER_FEED,
} from "../../lib/definition/limits.ts";
import type { Ran, Sandbox } from "../../lib/definition/sandbox.ts";
import { aRawBundle, aSession, only, ranIn, valueIn } from "../support/guest-session.ts";

/** The operation protocol, used by a bundle that is not ours. */
export function protocolContract(sandbox: () => Sandbox): void {
  const opening = (op: string, fields: string) =>
    `__fermata.open(${JSON.stringify(op)}, ${JSON.stringify(fields)}, () => {}, () => {});`;

  describe("the operation protocol", () => {
    test.each(GARBAGE)("stops an operation %s with %s", async (op, fields) => {
      const ran = await ranIn(sandbox(), opening(op, fields.replace("LONG", LONG)));

      expect(ran).toMatchObject({
        kind: "stopped",
        stop: "crash",
        message: expect.stringMatching(/used the operation protocol wrongly\. .+\./),
      });
    });

    test.each(GARBAGE_CALLS)("is not impressed by %s", async (call) => {
      const ran = await ranIn(sandbox(), `try { ${call} } catch (error) { return "threw"; }`);

      if (ran.kind === "stopped")
        expect(ran.message).toMatch(/operation protocol|endless|not a function/);
      expect(await valueIn(sandbox(), "return 1")).toBe(1);
    });

    test("refuses an operation too many inside", async () => {
      const body = `let count = 0;
        try { for (;;) { ${opening("task", '"type":"t","input":1')} count++; } }
        catch (error) { return [count, error.name]; }`;

      expect(await valueIn(sandbox(), body)).toEqual([MAX_OPEN_OPERATIONS, "RangeError"]);
    });

    test("stops a feed with as many operations as nobody needs", async () => {
      const body = (count: number) =>
        `for (let i = 0; i < ${count}; i++) __fermata.publish('"name":"s","payload":{}');`;

      const most = await ranIn(sandbox(), body(MAX_OPERATIONS_PER_FEED));
      const oneMore = await ranIn(sandbox(), body(MAX_OPERATIONS_PER_FEED + 1));
      const many = await ranIn(sandbox(), body(10_000));

      expect(most).toMatchObject({ kind: "ran" });
      expect(oneMore).toMatchObject({
        kind: "stopped",
        stop: "operations",
        message: expect.stringMatching(/may ask for/),
      });
      expect(many).toMatchObject({ kind: "stopped", stop: "operations" });
    });

    test("stops a feed that returns more than 4 MB", async () => {
      const body = (bytes: number) => opening("task", `"type":"t","input":"${"x".repeat(bytes)}"`);
      const above = await ranIn(sandbox(), body(MAX_GUEST_OUTPUT_BYTES));
      const [, length] =
        /takes (\d+) bytes as JSON, 4000000 is the limit/.exec(stoppedBy(above)) ?? [];
      // What surrounds the input counts, too.
      const most = 2 * MAX_GUEST_OUTPUT_BYTES - Number(length);

      expect(await ranIn(sandbox(), body(most))).toMatchObject({ kind: "ran" });
      expect(await ranIn(sandbox(), body(most + 1))).toMatchObject({ stop: "output" });
    });

    test("stops a result of more than 4 MB", async () => {
      expect(await ranIn(sandbox(), `return "x".repeat(5_000_000);`)).toMatchObject({
        stop: "output",
      });
    });

    test("does not settle what is settled by a call of its own functions", async () => {
      const session = await aSession(
        sandbox(),
        `let settled = 0; __fermata.open("task", '"type":"t","input":1', () => settled++, () => {});
         __fermata.close(1); __fermata.close(1); __fermata.cancel(1, new Error("x")); return settled;`,
      );

      expect(await only(session, { now: 0 })).toMatchObject({
        operations: [
          { op: "task", n: 1 },
          { op: "close", n: 1 },
        ],
        end: { value: 0 },
      });
    });

    test("stops a session whose operation throws as it is settled", async () => {
      const session = await aSession(
        sandbox(),
        `__fermata.open("task", '"type":"t","input":1', () => { throw new Error("mine"); }, () => {}); await new Promise(() => {});`,
      );
      await only(session, { now: 0 });

      const ran = await only(session, { now: 0, done: { n: 1, value: 1 } });

      expect(ran).toMatchObject({ kind: "stopped", stop: "crash", message: "mine" });
    });

    test("refuses a workflow that returns what is not JSON text", async () => {
      const loaded = await sandbox().load(`__fermata.workflow("w", async () => "}{");`);
      if (!loaded.ok) throw new Error(loaded.problem.message);
      const session = loaded.program.open({ workflow: "w", input: null, seed: "", instance: null });

      expect(await only(session, { now: 0 })).toMatchObject({ kind: "stopped", stop: "crash" });
    });

    test("tells a workflow that a bundle declares twice two times", async () => {
      const loaded = await sandbox().load(
        `__fermata.workflow("w", () => {}); __fermata.workflow("w", () => {});`,
      );

      expect(loaded).toMatchObject({ ok: true, program: { declared: { workflows: ["w", "w"] } } });
    });

    test.each([`__fermata.workflow({}, 1);`, `__fermata.step(5);`])(
      "refuses a bundle that declares %s",
      async (code) => {
        const loaded = await sandbox().load(aRawBundle("return 1;", code));

        expect(loaded).toMatchObject({
          ok: false,
          problem: { message: expect.stringMatching(/.+\./) },
        });
      },
    );
  });
}

const stoppedBy = (ran: Ran): string => (ran.kind === "stopped" ? ran.message : "");

/** Longer than any name may be. */
const LONG = "x".repeat(5_000);

const GARBAGE = [
  ["task", '"type":5,"input":1'],
  ["task", '"type":"t"'],
  ["task", '"type":"","input":1'],
  ["task", '"type":"LONG","input":1'],
  ["task", '"type":"t","input":1,"n":-1'],
  ["task", '"type":"t","input":1,"n":7'],
  ["task", '"type":"t","input":1,"n":1.5'],
  ["task", '"type":"t","input":1,"options":5'],
  ["task", '"type":"t","input":1,"options":{"retry":{"retryOn":"x"}}'],
  ["task", '"type":"t","input":1,"options":{"retry":{"maxAttempts":1.5}}'],
  ["task", '"type":"t","input":1}]}garbage'],
  ["task", ""],
  ["timer", '"after":5'],
  ["timer", '"until":"soon"'],
  ["timer", '"until":1e400'],
  ["event", '"name":null'],
  ["event", '"name":"LONG"'],
  ["signal", '"name":["x"]'],
  ["message", '"name":"m","key":5'],
  ["message", '"name":"m","key":"LONG"'],
  ["close", '"n":99'],
  ["close", '"n":-1'],
  ["nonsense", '"x":1'],
  ['task","x":"', '"type":"t"'],
  ["__proto__", '"x":1'],
] as const;

const GARBAGE_CALLS = [
  "__fermata.open();",
  "__fermata.open(null, null, null, null);",
  "__fermata.open({}, {}, {}, {});",
  "__fermata.open(Symbol(), Symbol());",
  `__fermata.open("task", { toString() { for (;;); } });`,
  "__fermata.open.call(5, 1, 2, 3);",
  "__fermata.publish(5);",
  "__fermata.publish(undefined);",
  "__fermata.close({}); __fermata.close(-1); __fermata.close(NaN);",
  "__fermata.cancel(5);",
  "__fermata.openIn({}); __fermata.openIn(-1);",
  "__fermata.scoped(5);",
  "__fermata.scoped(() => { throw 1; });",
  `__fermata.workflow("w", 1);`,
  "new __fermata.open();",
];
