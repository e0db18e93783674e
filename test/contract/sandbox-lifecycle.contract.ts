import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../lib/definition/sandbox.ts";
import {
  aLoaded,
  aRawBundle,
  aSession,
  only,
  openingOf,
  valueIn,
} from "../support/guest-session.ts";

/** Loading, opening, feeding and closing. */
export function lifecycleContract(sandbox: () => Sandbox): void {
  describe("a session", () => {
    test("that is closed answers that it has stopped", async () => {
      const session = await aSession(sandbox(), `${WAITING};`);
      await only(session, { now: 0 });

      session.close();
      session.close();

      expect(await only(session, { now: 0, done: { n: 1, value: 1 } })).toMatchObject(CLOSED);
    });

    test("that is closed before its first feed does so too", async () => {
      const session = await aSession(sandbox(), "return 1;");

      session.close();

      expect(await only(session, { now: 0 })).toMatchObject(CLOSED);
    });

    test("that was stopped answers so from then on, and can be closed", async () => {
      const session = await aSession(sandbox(), "for (;;);");
      await only(session, { now: 0 });

      const ran = await only(session, { now: 0, done: { n: 1, value: 1 } });
      session.close();

      expect(ran).toMatchObject(CLOSED);
    });

    test("that misused the protocol answers so from then on", async () => {
      const session = await aSession(sandbox(), `__fermata.open("nonsense", "", () => {});`);

      expect(await only(session, { now: 0 })).toMatchObject({ kind: "stopped", stop: "crash" });
      expect(await only(session, { now: 0 })).toMatchObject(CLOSED);
    });

    test("is at rest when it is fed nothing", async () => {
      const session = await aSession(sandbox(), "return 1;");

      expect(await session.run([])).toEqual([]);
      expect(await only(session, { now: 0 })).toMatchObject({ end: { value: 1 } });
      expect(await session.run([])).toEqual([]);
    });

    test("takes outcomes after its end, and says again how it ended", async () => {
      const session = await aSession(
        sandbox(),
        `void ${WAITING.slice("await ".length)}; return 5;`,
      );
      await only(session, { now: 0 });

      const ran = await only(session, { now: 0, done: { n: 1, value: 1 } });

      expect(ran).toEqual({ kind: "ran", operations: [], end: { value: 5 } });
    });

    test.each([0, 2, -1, 1.5, 2 ** 53])("does not know an operation %s", async (n) => {
      const session = await aSession(sandbox(), `${WAITING}; return 1;`);
      await only(session, { now: 0 });

      expect(await only(session, { now: 0, done: { n, value: 1 } })).toEqual({
        kind: "ran",
        operations: [],
        isUnknown: true,
      });
      expect(await only(session, { now: 0, done: { n: 1, value: 1 } })).toMatchObject({
        end: { value: 1 },
      });
    });

    test("takes an outcome once", async () => {
      const session = await aSession(sandbox(), `${WAITING}; ${WAITING}; return 1;`);
      const done = { n: 1, value: 1 };

      const all = await session.run([{ now: 0 }, { now: 0, done }, { now: 0, done }]);

      expect(all.at(-1)).toMatchObject({ isUnknown: true });
    });

    test("ends its list with the feed that stops", async () => {
      const session = await aSession(sandbox(), `${WAITING}; for (;;);`);
      const feeds = [1, 2, 3].map((n) => ({ now: 0, done: { n, value: null } }));

      const all = await session.run([{ now: 0 }, ...feeds]);

      expect(all).toMatchObject([{ kind: "ran" }, { kind: "stopped", stop: "fuel" }]);
    });

    test("of a workflow that the bundle does not have stops", async () => {
      const session = await aSession(sandbox(), "return 1;", { workflow: "other" });

      expect(await only(session, { now: 0 })).toMatchObject({
        kind: "stopped",
        message: 'The bundle has no workflow "other".',
      });
    });

    test("takes any text, however long", async () => {
      const texts = ["", "\u0000", "é😀\ud800", "x".repeat(100_000), "é".repeat(8_000)];

      for (const text of texts) {
        expect(await valueIn(sandbox(), "return input;", { input: text })).toBe(text);
      }
    });

    test("reports what a workflow throws", async () => {
      const session = await aSession(
        sandbox(),
        `throw Object.assign(new TypeError("wrong"), { code: "E1" });`,
      );

      expect(await only(session, { now: 0 })).toMatchObject({
        end: {
          error: {
            name: "TypeError",
            message: "wrong",
            code: "E1",
            stack: expect.stringMatching(/workflow\.js:\d+:\d+/),
          },
        },
      });
    });

    test.each(["null", "5", "Symbol()", "{ get message() { throw 1; } }", "Object.create(null)"])(
      "reports that it threw %s",
      async (thrown) => {
        const session = await aSession(sandbox(), `throw ${thrown};`);

        expect(await only(session, { now: 0 })).toMatchObject({
          end: { error: { message: expect.stringMatching(/The workflow threw/) } },
        });
      },
    );
  });

  describe("a load", () => {
    test("declares workflows and steps, each once", async () => {
      const before = `__fermata.step("a"); __fermata.step("b"); __fermata.step("a");`;
      const program = await aLoaded(sandbox(), aRawBundle("return 1;", before));

      expect(program.declared).toEqual({ workflows: ["w"], steps: ["a", "b"] });
    });

    test("that throws says what and where", async () => {
      const loaded = await sandbox().load(`\n\nthrow new TypeError("wrong");`);

      const problem = { message: "wrong", stack: expect.stringMatching(/workflow\.js:3:\d+/) };
      expect(loaded).toEqual({ ok: false, problem });
    });

    test("that cannot be parsed says where", async () => {
      const loaded = await sandbox().load("const = 5;");

      expect(loaded).toMatchObject({
        ok: false,
        problem: { stack: expect.stringMatching(/workflow\.js:1:\d+/) },
      });
    });

    test.each([
      ["loops", "for (;;);", "fuel"],
      ["loops in promises", "const again = () => Promise.resolve().then(again); again();", "jobs"],
      ["takes all memory", "const list = []; for (;;) list.push(new ArrayBuffer(1e6));", "memory"],
    ])("that %s is stopped", async (_, code, stopped) => {
      const loaded = await sandbox().load(aRawBundle("return 1;", code));

      expect(loaded).toMatchObject({
        ok: false,
        problem: { stopped, message: expect.stringMatching(/.+[.?]/) },
      });
    });

    test("opens no operations", async () => {
      const loaded = await sandbox().load(
        aRawBundle("return 1;", `__fermata.open("task", "", 1);`),
      );

      expect(loaded).toMatchObject({
        ok: false,
        problem: { message: expect.stringMatching(/inside a workflow/) },
      });
    });
  });

  test("two programs and their sessions run side by side", async () => {
    const [a, b] = await Promise.all([
      aLoaded(sandbox(), aRawBundle(`${WAITING}; return name;`, `const name = "a";`)),
      aLoaded(sandbox(), aRawBundle(`${WAITING}; return name;`, `const name = "b";`)),
    ]);
    const sessions = [a, b, a, b].map((program) => program.open(openingOf()));
    await Promise.all(sessions.map((session) => only(session, { now: 0 })));

    const done = { n: 1, value: null };
    const all = await Promise.all(sessions.map((session) => only(session, { now: 0, done })));

    expect(all.map((ran) => ran.kind === "ran" && ran.end)).toEqual(
      ["a", "b", "a", "b"].map((value) => ({ value })),
    );
  });
}

const CLOSED = { kind: "stopped", stop: "crash", message: "The session is closed." };
const WAITING = `await new Promise((settle) => __fermata.open("task", '"type":"t","input":null', settle, () => {}))`;
