import { describe, expect, onTestFinished, test } from "vitest";
import { serveEngine } from "../../lib/embedded/index.ts";
import { checkedApi, sendTo } from "../support/api-client.ts";
import {
  aMessage,
  aSignal,
  beside,
  catching,
  end,
  file,
  flow,
  onMessage,
  onSignal,
  service,
  start,
  throwing,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";
import { leftBy, NOTHING_LEFT } from "../support/left-in-store.ts";

/** A process that starts by what `definition` says, and leaves a task behind. */
const begunBy = (id: string, definition: string, task = "work") =>
  file(
    xml(
      "process",
      { id, isExecutable: "true" },
      xml("startEvent", { id: "begin" }, definition),
      service(task),
      end(),
      flow("f1", "begin", task),
      flow("f2", task, "end"),
    ),
  );
const bySignal = (id: string, name = "opened", task = "work") =>
  beside(begunBy(id, onSignal("s"), task), aSignal("s", name));
const byMessage = (id: string, name = "ordered", task = "work") =>
  beside(begunBy(id, onMessage("m"), task), aMessage("m", { name }));
/** Can also be started by a call. */
const both = (id: string, name = "opened") =>
  beside(
    file(
      xml(
        "process",
        { id, isExecutable: "true" },
        start("plain"),
        xml("startEvent", { id: "begin" }, onSignal("s")),
        service("work"),
        flow("f1", "begin", "work"),
        flow("f2", "plain", "work"),
      ),
    ),
    aSignal("s", name),
  );
const plain = (id: string) =>
  file(
    xml(
      "process",
      { id, isExecutable: "true" },
      start("plain"),
      service("work"),
      flow("f2", "plain", "work"),
    ),
  );
const waiting = (id: string, definition: string, ...roots: readonly string[]) =>
  beside(
    file(
      xml(
        "process",
        { id, isExecutable: "true" },
        start(),
        catching("wait", definition),
        end(),
        flow("f1", "start", "wait"),
        flow("f2", "wait", "end"),
      ),
    ),
    ...roots,
  );

const idsOf = async (engine: Engine, definition: string) =>
  (await engine.list({ definition })).items.map(({ instanceId }) => instanceId);

describe("a signal start", () => {
  test("F41 starts one instance of each process for a broadcast, beside open waits", async () => {
    const engine = await anEngine({ source: bySignal("p") });
    await engine.deploy(bySignal("q"));
    await engine.deploy(waiting("r", onSignal("s"), aSignal("s", "opened")));
    for (const instanceId of ["one", "two"]) await engine.start("r", { instanceId });

    const answer = await engine.signal("opened", { by: "me" });
    await engine.idle();

    expect(answer).toMatchObject({ deliveredCount: 2, startedCount: 2 });
    expect(await engine.receipt(answer.broadcastId)).toMatchObject({
      complete: true,
      matched: 4,
      delivered: 2,
      started: 2,
    });
    for (const definition of ["p", "q"]) {
      const { items } = await engine.list({ definition });
      expect(items).toMatchObject([{ variables: { by: "me" }, activeElements: ["work"] }]);
    }
    for (const id of ["one", "two"]) expect((await engine.get(id)).status).toBe("succeeded");
    // The start stays: the next broadcast starts the next instance.
    expect(await engine.signal("opened")).toMatchObject({ deliveredCount: 0, startedCount: 2 });
    expect(await idsOf(engine, "p")).toHaveLength(2);
  });

  test("F41 starts no second instance for the same broadcast", async () => {
    const engine = await anEngine({ source: bySignal("p") });
    const first = await engine.signal("opened", {}, { id: "s-1" });
    await engine.idle();
    expect(await engine.signal("opened", {}, { id: "s-1" })).toEqual(first);
    await engine.idle();
    expect(await idsOf(engine, "p")).toHaveLength(1);
  });

  test("F41 is triggered by a signal from a throw event, and by one from an end event", async () => {
    const thrower = (id: string, content: readonly string[]) =>
      beside(
        file(xml("process", { id, isExecutable: "true" }, start(), ...content)),
        aSignal("s", "opened"),
      );
    const engine = await anEngine({ source: bySignal("p") });
    await engine.deploy(
      thrower("in-between", [
        throwing("shout", onSignal("s")),
        end(),
        flow("f1", "start", "shout"),
        flow("f2", "shout", "end"),
      ]),
    );
    await engine.deploy(
      thrower("at-the-end", [end("end", onSignal("s")), flow("f1", "start", "end")]),
    );

    for (const [n, definition] of ["in-between", "at-the-end"].entries()) {
      const { instanceId } = await engine.start(definition);
      await engine.idle();
      expect((await engine.get(instanceId)).status).toBe("succeeded");
      expect(await idsOf(engine, "p")).toHaveLength(n + 1);
    }
  });

  test("F41 runs the task after it, once", async () => {
    const dataDir = aDataDir();
    const ran: string[] = [];
    const work = (_input: unknown, { instanceId }: { instanceId: string }) => {
      ran.push(instanceId);
      return { done: true };
    };
    const engine = await anEngine({ dataDir, source: bySignal("p"), tasks: { work } });
    for (let n = 0; n < 10; n++) await engine.signal("opened");
    await engine.idle();
    const { items } = await engine.list({ definition: "p" });
    expect(items.map(({ status }) => status)).toEqual(Array(10).fill("succeeded"));
    expect(new Set(ran).size).toBe(10);
    expect(ran).toHaveLength(10);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("a message start", () => {
  test("F43 starts an instance for each message, with its payload", async () => {
    const engine = await anEngine({ source: byMessage("p") });
    const answers = [];
    for (const n of [1, 2]) {
      answers.push(await engine.message({ name: "ordered", payload: { n }, messageId: `m-${n}` }));
    }
    expect(answers.map(({ outcome }) => outcome)).toEqual(["started", "started"]);
    for (const [n, { instanceId }] of answers.entries()) {
      expect((await engine.get(instanceId ?? "")).variables).toEqual({ n: n + 1 });
    }
    expect(await idsOf(engine, "p")).toHaveLength(2);
  });

  test("F43 takes a message with the same id once", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: byMessage("p") });
    const send = () => engine.message({ name: "ordered", correlationKey: "k", messageId: "m-1" });
    const [first, ...others] = await Promise.all([send(), send(), send()]);
    expect(first).toMatchObject({ outcome: "started" });
    // A concurrent caller may get either the instance that is being started, or the started one.
    for (const { outcome } of others) expect(["started", "duplicate"]).toContain(outcome);
    expect(await send()).toMatchObject({ outcome: "duplicate" });
    expect(await idsOf(engine, "p")).toHaveLength(1);
    expect((await leftBy(engine, dataDir)).mail).toEqual([]);
  });

  test("F43 starts one instance of each process with that message start", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: byMessage("p") });
    await engine.deploy(byMessage("q"));
    const answer = await engine.message({ name: "ordered", payload: { n: 1 }, timeToLive: "PT0S" });
    await engine.idle();
    expect(answer).toMatchObject({ outcome: "started" });
    for (const definition of ["p", "q"]) {
      expect((await engine.list({ definition })).items).toMatchObject([{ variables: { n: 1 } }]);
    }
    expect((await leftBy(engine, dataDir)).mail).toEqual([]);
  });

  test("F43 runs the task after it, once", async () => {
    const dataDir = aDataDir();
    const ran: string[] = [];
    const work = (_input: unknown, { instanceId }: { instanceId: string }) => {
      ran.push(instanceId);
      return {};
    };
    const engine = await anEngine({ dataDir, source: byMessage("p"), tasks: { work } });
    for (let n = 0; n < 10; n++) await engine.message({ name: "ordered" });
    await engine.idle();
    expect(new Set(ran).size).toBe(10);
    expect(ran).toHaveLength(10);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F44 starts nothing while an instance waits for the message", async () => {
    const engine = await anEngine({ source: byMessage("p") });
    const wait = waiting("r", onMessage("m"), aMessage("m", { name: "ordered", key: "=order" }));
    await engine.deploy(wait);
    await engine.start("r", { instanceId: "one", variables: { order: "a" } });
    const message = { name: "ordered", correlationKey: "a" };

    expect(await engine.message(message)).toMatchObject({
      outcome: "delivered",
      instanceId: "one",
    });
    expect(await idsOf(engine, "p")).toEqual([]);
    // Now there is no wait any more, and there was none with another key.
    expect(await engine.message(message)).toMatchObject({ outcome: "started" });
    expect(await engine.message({ name: "ordered", correlationKey: "b" })).toMatchObject({
      outcome: "started",
    });
    expect(await idsOf(engine, "p")).toHaveLength(2);
  });

  test("F43 is not triggered by a message that was kept before it was deployed", async () => {
    const engine = await anEngine();
    await engine.message({ name: "ordered" });
    await engine.deploy(byMessage("p"));
    await engine.idle();
    expect(await idsOf(engine, "p")).toEqual([]);
  });
});

const kinds = [
  {
    what: "signal",
    source: bySignal,
    send: async (engine: Engine, name = "opened") => {
      await engine.signal(name);
      await engine.idle();
    },
  },
  {
    what: "message",
    source: byMessage,
    send: async (engine: Engine, name = "ordered") => {
      await engine.message({ name, timeToLive: "PT0S" }).catch(isNoWaiter);
      await engine.idle();
    },
  },
] as const;

function isNoWaiter(error: unknown): void {
  expect(error).toMatchObject({ code: "message/no-waiter" });
}

describe.each(kinds)("the life cycle of a start by a $what", ({ what, source, send }) => {
  test("F4 stops when it is disabled, and resumes when enabled; running instances continue", async () => {
    const engine = await anEngine({ source: source("p") });
    await send(engine);
    const [running] = await idsOf(engine, "p");

    for (let n = 0; n < 2; n++) await engine.disable("p");
    await send(engine);
    expect(await idsOf(engine, "p")).toEqual([running]);
    const { items } = await engine.tasks();
    await engine.complete(items[0]?.taskId ?? "");
    expect((await engine.get(running ?? "")).status).toBe("succeeded");

    for (let n = 0; n < 2; n++) await engine.enable("p");
    await send(engine);
    expect(await idsOf(engine, "p")).toHaveLength(2);
  });

  test("F4 stays off when a new version is deployed while it is disabled", async () => {
    const engine = await anEngine({ source: source("p") });
    await engine.disable("p");
    await engine.deploy(source("p", undefined, "other"));
    await send(engine);
    expect(await idsOf(engine, "p")).toEqual([]);
    await engine.enable("p");
    await send(engine);
    const { items } = await engine.list({ definition: "p" });
    expect(items).toMatchObject([{ activeElements: ["other"], definition: { version: 2 } }]);
  });

  test("F6 is removed when it is undeployed, and returns with the next deployment", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: source("p") });
    await engine.undeploy("p");
    await send(engine);
    expect((await engine.list()).items).toEqual([]);
    await engine.deploy(source("p"));
    await send(engine);
    expect(await idsOf(engine, "p")).toHaveLength(1);
  });

  test("F5 is that of the newest version: identical, changed, renamed or removed", async () => {
    const engine = await anEngine({ source: source("p") });
    const same = await engine.deploy(source("p"));
    expect(same.created).toBe(false);
    await send(engine);
    expect(await idsOf(engine, "p")).toHaveLength(1);

    await engine.deploy(source("p", undefined, "other"));
    await engine.advanceClock("PT1S"); // lists are in order of time
    await send(engine);
    const [newest] = (await engine.list({ definition: "p" })).items;
    expect(newest).toMatchObject({ activeElements: ["other"], definition: { version: 2 } });

    await engine.deploy(source("p", "renamed", "other"));
    await send(engine);
    expect(await idsOf(engine, "p")).toHaveLength(2);
    await send(engine, "renamed");
    expect(await idsOf(engine, "p")).toHaveLength(3);

    await engine.deploy(plain("p"));
    await send(engine, "renamed");
    await send(engine);
    expect(await idsOf(engine, "p")).toHaveLength(3);
    await engine.deploy(source("p"));
    await send(engine);
    expect(await idsOf(engine, "p")).toHaveLength(4);
  });

  test("is shown with the definition, and survives a restart", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir });
    const { definitions } = await before.deploy(source("p"));
    const name = what === "signal" ? "opened" : "ordered";
    expect(definitions[0]?.startEvents).toEqual([{ element: "begin", kind: what, name }]);
    await before.close();

    const after = await anEngine({ dataDir });
    await send(after);
    const [id] = await idsOf(after, "p");
    expect((await trailOf(after, id ?? "")).slice(0, 3)).toEqual([
      "started",
      "element-entered begin",
      "element-completed begin",
    ]);
  });

  test("F2 cannot be started by a call, and the error says how it starts", async () => {
    const engine = await anEngine({ source: source("p") });
    const name = what === "signal" ? "opened" : "ordered";
    await expect(engine.start("p")).rejects.toMatchObject({
      code: "definition/not-startable",
      message: expect.stringContaining(`the ${what} "${name}"`),
    });
    const server = await serveEngine(engine, { port: 0 });
    onTestFinished(() => server.close());
    const api = await checkedApi(sendTo(server.url));
    const refused = await api("POST", "/v1/definitions/p/instances");
    expect(refused).toMatchObject({ status: 409, json: { code: "definition/not-startable" } });
    expect((await engine.list()).items).toEqual([]);
  });
});

describe("a definition with a plain start and a triggered one", () => {
  test("F2 F41 starts by a call at the one, by a signal at the other", async () => {
    const engine = await anEngine({ source: both("p") });
    const called = await engine.start("p");
    await engine.signal("opened");
    const ids = await idsOf(engine, "p");
    const [signalled] = ids.filter((id) => id !== called.instanceId);
    expect((await engine.get(called.instanceId)).completedElements).toEqual(["plain"]);
    expect((await engine.get(signalled ?? "")).completedElements).toEqual(["begin"]);
  });
});

describe("a restart directly after a start was triggered", () => {
  test("by a signal completes the broadcast, and starts one instance", async () => {
    const dataDir = aDataDir();
    let isLate = false;
    const work = () => (isLate ? { done: true } : new Promise(() => {}));
    const before = await anEngine({ dataDir, source: bySignal("p"), tasks: { work } });
    await before.signal("opened", {}, { id: "s-1" });
    await before.close({ graceMs: 0 });

    isLate = true;
    const after = await anEngine({ dataDir, tasks: { work } });
    await after.idle();
    expect((await after.list({ definition: "p" })).items).toMatchObject([
      { status: "succeeded", variables: { done: true } },
    ]);
    expect(await after.receipt("s-1")).toMatchObject({ complete: true, started: 1 });
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("by a message starts one instance, and its task runs", async () => {
    const dataDir = aDataDir();
    let isLate = false;
    const work = () => (isLate ? { done: true } : new Promise(() => {}));
    const before = await anEngine({ dataDir, source: byMessage("p"), tasks: { work } });
    const sent = await before.message({ name: "ordered", messageId: "m-1" });
    await before.close({ graceMs: 0 });

    isLate = true;
    const after = await anEngine({ dataDir, tasks: { work } });
    expect(await after.recovered).toMatchObject({ resumed: 1, resent: 1 });
    expect(await after.result(sent.instanceId ?? "")).toMatchObject({ variables: { done: true } });
    expect(await after.message({ name: "ordered", messageId: "m-1" })).toMatchObject({
      outcome: "duplicate",
    });
    expect(await leftBy(after, dataDir)).toEqual(NOTHING_LEFT);
  });
});

type Engine = Awaited<ReturnType<typeof anEngine>>;
