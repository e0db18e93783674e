import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { workerSandbox } from "../../lib/adapters/quickjs/worker-sandbox.ts";
import type { Sandbox } from "../../lib/definition/sandbox.ts";
import {
  aLoaded,
  aRawBundle,
  aSession,
  only,
  openingOf,
  ranIn,
  valueIn,
} from "../support/guest-session.ts";

/** Native code that does not ask whether it may go on. */
const DEAF = `"a".repeat(4_000_000).indexOf("a".repeat(2_000_000) + "b");`;
const WAITING = `await new Promise((settle) => __fermata.open("task", '"type":"t","input":null', settle, () => {}))`;
const done = { n: 1, value: null };

describe("a sandbox in a worker", () => {
  const opened: Sandbox[] = [];
  const aSandbox = (deadlineMs = 2_000): Sandbox => {
    const sandbox = workerSandbox({ deadlineMs });
    opened.push(sandbox);
    return sandbox;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()));
  });

  test("is in use while it owes an answer, and not before it was asked", async () => {
    const sandbox = workerSandbox();
    opened.push(sandbox);
    const before = sandbox.isInUse;

    const running = valueIn(sandbox, "return 1;");

    expect([before, sandbox.isInUse]).toEqual([false, true]);
    expect(await running).toBe(1);
  });

  test("R23: ends a search without end at the deadline", async () => {
    const ran = await ranIn(aSandbox(), `try { ${DEAF} } finally { return 1; }`);

    expect(ran).toMatchObject({ kind: "stopped", stop: "deadline" });
  });

  test("ends a load at the deadline", async () => {
    const sandbox = aSandbox();

    const loaded = await sandbox.load(aRawBundle("return 1;", DEAF));

    expect(loaded).toMatchObject({ ok: false, problem: { stopped: "deadline" } });
    expect(await valueIn(sandbox, "return 1;")).toBe(1);
  });

  test("loses the sessions beside the one that is ended, and runs them again", async () => {
    const sandbox = aSandbox();
    const program = await aLoaded(sandbox, aRawBundle(`${WAITING}; return 1;`));
    const idle = program.open(openingOf());
    await only(idle, { now: 0 });
    const culprit = await aSession(sandbox, DEAF);

    const [ended, ...beside] = await Promise.all([
      only(culprit, { now: 0 }),
      only(program.open(openingOf()), { now: 0 }),
      sandbox.load(aRawBundle("return 2;")),
    ]);

    expect(ended).toMatchObject({ stop: "deadline" });
    expect(beside).toMatchObject([{ stop: "lost" }, { ok: false, problem: { stopped: "lost" } }]);
    expect(await only(idle, { now: 0, done })).toMatchObject({ kind: "stopped", stop: "lost" });
    const again = program.open(openingOf());
    const all = await again.run([{ now: 0 }, { now: 0, done }]);
    expect(all.at(-1)).toMatchObject({ end: { value: 1 } });
  });

  test("gives a busy batch all the time that each of its requests may take", async () => {
    const sandbox = aSandbox(1_500);
    const busy = "for (let i = 0; i < 2_000_000; i++);";
    const program = await aLoaded(sandbox, aRawBundle(`${busy} return 1;`));

    const all = await Promise.all(
      Array.from({ length: 24 }, () => only(program.open(openingOf()), { now: 0 })),
    );

    expect(all.filter(({ kind }) => kind !== "ran")).toEqual([]);
  });

  test("gives a long replay all the time that each of its feeds may take", async () => {
    const busy = "for (let i = 0; i < 2_000_000; i++);";
    const body = `for (let n = 0; n < input; n++) { ${busy} ${WAITING}; } return 1;`;
    const replay = async (sandbox: Sandbox, count: number) => {
      const session = await aSession(sandbox, body, { input: count });
      const outcomes = Array.from({ length: count }, (_, n) => ({ n: n + 1, value: null }));
      const begun = performance.now();
      const all = await session.run([
        { now: 0 },
        ...outcomes.map((one) => ({ now: 0, done: one })),
      ]);
      return { all, ms: performance.now() - begun };
    };
    const some = await replay(aSandbox(60_000), 10);
    const deadlineMs = 600;

    const { all, ms } = await replay(aSandbox(deadlineMs), Math.ceil((40 * deadlineMs) / some.ms));

    // Otherwise it would show nothing.
    expect(ms).toBeGreaterThan(deadlineMs);
    expect(all.at(-1)).toMatchObject({ kind: "ran", end: { value: 1 } });
  });

  test("answers in order what one session is asked at once", async () => {
    const session = await aSession(aSandbox(), `${WAITING}; ${WAITING}; return 1;`);

    const all = await Promise.all([
      only(session, { now: 0 }),
      only(session, { now: 0, done }),
      only(session, { now: 0, done: { n: 2, value: null } }),
    ]);

    expect(all).toMatchObject([{ kind: "ran" }, { kind: "ran" }, { end: { value: 1 } }]);
  });

  test("loses what is pending when it is closed, and starts no other thread", async () => {
    const sandbox = aSandbox();
    const session = await aSession(sandbox, `${WAITING}; return 1;`);
    await only(session, { now: 0 });
    const pending = [only(session, { now: 0, done }), sandbox.load(aRawBundle("return 1;"))];

    await sandbox.close();

    expect(await Promise.all(pending)).toMatchObject([
      { stop: "lost" },
      { ok: false, problem: { stopped: "lost" } },
    ]);
    expect(await only(session, { now: 0, done })).toMatchObject({ stop: "lost" });
    expect(await sandbox.load(aRawBundle("return 1;"))).toMatchObject({ ok: false });
    await sandbox.close();
  });

  test("loses a feed that runs while it is closed", async () => {
    const sandbox = aSandbox(60_000);
    const session = await aSession(sandbox, DEAF);
    const pending = only(session, { now: 0 });
    await new Promise((resolve) => setTimeout(resolve, 100));

    await sandbox.close();

    expect(await pending).toMatchObject({ kind: "stopped", stop: "lost" });
  });

  test.each(["idle", "closed"])("lets its process end when it is %s", async (how) => {
    const { stdout } = await aProcess(
      `const loaded = await sandbox.load(bundle);
       console.log((await loaded.program.open(opening).run([{ now: 0 }]))[0].end.value);
       ${how === "closed" ? "await sandbox.close();" : ""}`,
    );

    expect(stdout).toBe("1\n");
  });

  test("is closed before its process ends, right after a session", async () => {
    const { stdout } = await aProcess(
      `const { program } = await sandbox.load(bundle);
       const session = program.open(opening);
       await session.run([{ now: 0 }]);
       session.close();
       await sandbox.close();
       console.log("closed");`,
    );

    expect(stdout).toBe("closed\n");
  });

  test("does not count the time for which its process was stopped", async () => {
    const { stdout } = await aProcess(
      `const { program } = await patient.load(busy);
       const session = program.open(opening);
       const running = session.run([{ now: 0 }]);
       spawn("sh", ["-c", "sleep 0.3; kill -STOP $PPID; sleep 5; kill -CONT $PPID"]);
       console.log((await running)[0].kind);
       await patient.close();`,
      `import { spawn } from "node:child_process";
       const busy = ${JSON.stringify(aRawBundle("for (let i = 0; i < 8_000_000; i++); return 1;"))};
       const patient = (await import(SANDBOX)).workerSandbox({ deadlineMs: 4_000 });`,
    );

    expect(stdout).toBe("ran\n");
  });

  test("is replaced when its thread dies by itself", async () => {
    const { stdout } = await aProcess(
      `const { program } = await sandbox.load(bundle);
       const session = program.open(opening);
       await session.run([{ now: 0 }]);
       const { program: deaf } = await sandbox.load(deafBundle);
       const served = deaf.open(opening).run([{ now: 0 }]);
       const behind = program.open(opening).run([{ now: 0 }]);
       await new Promise((resolve) => setTimeout(resolve, 100));
       workers.at(-1).emit("error", new Error("died"));
       const stops = await Promise.all([served, behind, session.run([{ now: 0 }])]);
       console.log(stops.map(([{ stop }]) => stop).join(" "));
       console.log((await program.open(opening).run([{ now: 0 }]))[0].end.value, workers.length);`,
      `const deafBundle = ${JSON.stringify(aRawBundle(DEAF))};`,
    );

    expect(stdout).toBe("crash lost lost\n1 2\n");
  });

  test("takes more and larger texts than its memory has room for, in order", async () => {
    const sandbox = aSandbox(60_000);
    const program = await aLoaded(sandbox, aRawBundle("return input;"));
    const inputs = Array.from(
      { length: 400 },
      (_, n) => `${n} ä€😀 ${"x".repeat((n % 40) * 2_000)}`,
    );

    const all = await Promise.all(
      inputs.map(async (input) => {
        const session = program.open(openingOf({ input }));
        const ran = await only(session, { now: 0 });
        session.close();
        return ran.kind === "ran" ? ran.end : ran;
      }),
    );

    expect(all).toEqual(inputs.map((value) => ({ value })));
  });

  test("answers after it has slept, however often", async () => {
    const sandbox = aSandbox(60_000);
    const program = await aLoaded(sandbox, aRawBundle("return input;"));
    const answers: unknown[] = [];

    for (const pause of [0, 1, 2, 3, 5, 20, 0, 1, 2, 3]) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      answers.push(await only(program.open(openingOf({ input: pause })), { now: 0 }));
    }

    const ends = [0, 1, 2, 3, 5, 20, 0, 1, 2, 3].map((value) => ({ value }));
    expect(answers).toMatchObject(ends.map((end) => ({ kind: "ran", end })));
  });
});

/** Runs code in a process of its own, which has a sandbox, a bundle, an opening and all its workers. */
function aProcess(code: string, before = ""): Promise<{ stdout: string }> {
  const module = new URL("../../lib/adapters/quickjs/worker-sandbox.ts", import.meta.url);
  const text = `
    import threads from "node:worker_threads";
    import { syncBuiltinESMExports } from "node:module";
    const workers = [];
    threads.Worker = class extends threads.Worker { constructor(...args) { super(...args); workers.push(this); } };
    syncBuiltinESMExports();
    const SANDBOX = ${JSON.stringify(module.href)};
    const { workerSandbox } = await import(SANDBOX);
    const sandbox = workerSandbox();
    const bundle = ${JSON.stringify(aRawBundle("return 1;"))};
    const opening = ${JSON.stringify(openingOf())};
    ${before}
    ${code}`;
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const args = ["--input-type=module", "--eval", text];
  return promisify(execFile)(process.execPath, args, { cwd, timeout: 60_000 });
}
