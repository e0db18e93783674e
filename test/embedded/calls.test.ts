import { describe, expect, test } from "vitest";
import type { Json } from "../../lib/definition/json.ts";
import { MAX_CALL_DEPTH } from "../../lib/definition/limits.ts";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import {
  aMessage,
  aSignal,
  boundary,
  end,
  file,
  flow,
  ioMapping,
  onMessage,
  onSignal,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { anError, calling, DETACHED, line, onError, working } from "../support/call-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";

const double = line("double", [working("twice")]);
const tasks = { twice: ({ n }: Readonly<Record<string, Json>>) => ({ n: Number(n) * 2 }) };

/** A handler that never ends, and when it has started. */
function aHangingTask() {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const twice = () => {
    resolve();
    return new Promise(() => {});
  };
  return { begun, tasks: { twice } };
}

const calls = (called: Readonly<Record<string, string>>, ...more: readonly string[]) =>
  file(line("caller", [calling("call", "double", called, ...more)]), double);

const from = (source: string, target: string) => xml("zeebe:input", { source, target });
const to = (source: string, target: string) => xml("zeebe:output", { source, target });

/** The child that an open call waits for. */
async function childOf(engine: EmbeddedEngine, instanceId: string): Promise<string> {
  const { items } = await engine.waits(instanceId);
  const id = items.find(({ kind }) => kind === "child")?.childInstanceId;
  if (id === undefined) throw new Error(`${instanceId} waits for no child.`);
  return id;
}

describe("a call activity", () => {
  test("F57 R13 passes 21 to its child and gets 42 from it", async () => {
    const engine = await anEngine({ source: calls({}), tasks });

    const { instanceId } = await engine.start("caller", { variables: { n: 21 } });

    expect(await engine.result(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { n: 42 },
    });
    expect(await trailOf(engine, instanceId)).toEqual([
      "started",
      "element-entered caller-start",
      "element-completed caller-start",
      "flow-taken caller-f0",
      "element-entered call",
      "child-ended call",
      "element-completed call",
      "flow-taken caller-f1",
      "element-entered caller-end",
      "element-completed caller-end",
      "instance-ended",
    ]);
  });

  test("F57 isolates the child: only mapped variables go in, and only mapped variables come out", async () => {
    const flags = { propagateAllParentVariables: "false", propagateAllChildVariables: "false" };
    const source = calls(flags, ioMapping(from("=amount", "n"), to("=n", "doubled")));
    const engine = await anEngine({ source, tasks: { twice: (seen) => ({ n: 42, seen }) } });

    const { instanceId } = await engine.start("caller", { variables: { amount: 21, pin: 1 } });

    const { variables } = await engine.result(instanceId);
    const { items } = await engine.list({ definition: "double" });
    expect(variables).toEqual({ amount: 21, pin: 1, doubled: 42 });
    expect(items.map((child) => child.variables)).toEqual([{ n: 42, seen: { n: 21 } }]);
  });

  test.each([
    ["true", "true", { n: 42, pin: 1 }, { n: 21, pin: 1 }],
    ["true", "false", { n: 21, pin: 1 }, { n: 21, pin: 1 }],
    ["false", "true", { n: null, pin: 1 }, {}],
    ["false", "false", { n: 21, pin: 1 }, {}],
  ])("F57 passes all: %s, takes all: %s", async (parents, childs, after, given) => {
    const flags = { propagateAllParentVariables: parents, propagateAllChildVariables: childs };
    const seen: unknown[] = [];
    const twice = (variables: Readonly<Record<string, Json>>) => {
      seen.push(variables);
      return { n: typeof variables.n === "number" ? variables.n * 2 : null };
    };
    const engine = await anEngine({ source: calls(flags), tasks: { twice } });

    const { instanceId } = await engine.start("caller", { variables: { n: 21, pin: 1 } });

    expect((await engine.result(instanceId)).variables).toEqual(after);
    expect(seen).toEqual([given]);
  });

  test("F57 passes the variables that were visible when it was made, whatever changes later", async () => {
    const fork = file(
      xml(
        "process",
        { id: "caller", isExecutable: "true" },
        xml("startEvent", { id: "s" }),
        xml("parallelGateway", { id: "fork" }),
        calling("call", "=which"),
        working("beside"),
        end("e1"),
        end("e2"),
        flow("f1", "s", "fork"),
        flow("f2", "fork", "call"),
        flow("f3", "fork", "beside"),
        flow("f4", "call", "e1"),
        flow("f5", "beside", "e2"),
      ),
    );
    const engine = await anEngine({ source: fork, tasks: { beside: () => ({ n: 1 }), ...tasks } });
    const { instanceId } = await engine.start("caller", { variables: { n: 21, which: "double" } });
    await engine.idle();
    const { incidents } = await engine.get(instanceId);
    await engine.deploy(file(double));
    await engine.resolveIncident(instanceId, incidents[0]?.incidentId ?? "");

    expect(incidents).toMatchObject([
      { type: "CALLED_ELEMENT_ERROR", message: expect.stringMatching(/no such definition/) },
    ]);
    // It is called again, with what is visible now.
    expect((await engine.result(instanceId)).variables).toMatchObject({ n: 2 });
  });

  test("R13 a chain of three ends from the innermost to the outermost", async () => {
    const chain = file(
      line("outer", [calling("outer-call", "middle")]),
      line("middle", [calling("middle-call", "double")]),
      double,
    );
    const engine = await anEngine({ source: chain, tasks });

    const { instanceId } = await engine.start("outer", { variables: { n: 21 } });

    expect((await engine.result(instanceId)).variables).toEqual({ n: 42 });
    for (const definition of ["middle", "double"]) {
      const { items } = await engine.list({ definition });
      expect(items).toMatchObject([{ status: "succeeded", parent: { awaited: true } }]);
    }
  });

  test("S4 in a loop creates one child per round, and gets each result once", async () => {
    const loop = file(
      xml(
        "process",
        { id: "caller", isExecutable: "true" },
        xml("startEvent", { id: "s" }),
        xml("exclusiveGateway", { id: "again" }),
        calling("call", "double"),
        xml("exclusiveGateway", { id: "enough", default: "more" }),
        end("e"),
        flow("f1", "s", "again"),
        flow("f2", "again", "call"),
        flow("f3", "call", "enough"),
        flow("more", "enough", "again"),
        flow("done", "enough", "e", "=n > 1000"),
      ),
      double,
    );
    const engine = await anEngine({ source: loop, tasks });

    const { instanceId } = await engine.start("caller", { variables: { n: 1 } });

    expect((await engine.result(instanceId)).variables).toEqual({ n: 1024 });
    const { items } = await engine.list({ definition: "double" });
    const trail = await trailOf(engine, instanceId);
    expect(items).toHaveLength(10);
    expect(trail.filter((entry) => entry === "child-ended call")).toHaveLength(10);
  });

  test("passes and returns values that are too large to be stored in an instance", async () => {
    const engine = await anEngine({
      source: calls({}),
      tasks: { twice: () => ({ answer: "y".repeat(400_000) }) },
    });

    const { instanceId } = await engine.start("caller", {
      variables: { text: "x".repeat(90_000) },
    });

    const { variables } = await engine.result(instanceId);
    expect(variables).toEqual({ text: "x".repeat(90_000), answer: "y".repeat(400_000) });
  });

  test("shows its child, and the child shows its parent", async () => {
    const { begun, tasks: hanging } = aHangingTask();
    const engine = await anEngine({ source: calls({}), tasks: hanging });
    const { instanceId } = await engine.start("caller");
    await begun;
    const childId = await childOf(engine, instanceId);

    const { items } = await engine.waits(instanceId);
    const child = await engine.get(childId);

    expect(items).toMatchObject([{ kind: "child", element: "call", process: "double" }]);
    expect(child).toMatchObject({
      definition: { id: "double" },
      status: "running",
      parent: { instanceId, awaited: true },
    });
    expect((await engine.get(instanceId)).status).toBe("suspended");
  });

  test("has a depth limit: one level more is an incident that says so", async () => {
    const self = file(line("self", [calling("again", "self")]));
    const engine = await anEngine({ source: self });

    await engine.start("self");
    await engine.idle();

    const { items } = await engine.list({ definition: "self", limit: 200 });
    const [stuck] = items.filter(({ incidents }) => incidents.length > 0);
    expect(items).toHaveLength(MAX_CALL_DEPTH + 1);
    expect(stuck?.incidents).toMatchObject([
      { type: "CALLED_ELEMENT_ERROR", message: expect.stringMatching(/100 is the limit/) },
    ]);
  });

  test("at the limit of depth ends all the way up", async () => {
    const countdown = file(
      xml(
        "process",
        { id: "down", isExecutable: "true" },
        xml("startEvent", { id: "s" }),
        xml("exclusiveGateway", { id: "more", default: "enough" }),
        calling("call", "down", {}, ioMapping(from("=n - 1", "n"))),
        end("e1"),
        end("e2"),
        flow("f1", "s", "more"),
        flow("deeper", "more", "call", "=n > 0"),
        flow("enough", "more", "e1"),
        flow("f2", "call", "e2"),
      ),
    );
    const engine = await anEngine({ source: countdown });

    const { instanceId } = await engine.start("down", { variables: { n: MAX_CALL_DEPTH } });

    expect((await engine.result(instanceId)).status).toBe("succeeded");
  });
});

describe("an error in a child", () => {
  const failing = (catchers: readonly string[], ...errors: readonly string[]) =>
    file(
      line("caller", [calling("call", "double")], ...catchers),
      double,
      ...errors.map((id) => anError(id)),
    );
  const caught = (id: string, errorRef?: string) => [
    onError(id, "call", errorRef),
    end(`${id}-end`),
    flow(`${id}-f`, id, `${id}-end`),
  ];
  test("F57 D12 reaches the boundary event of the call, with its message and variables", async () => {
    const mapped = xml(
      "boundaryEvent",
      { id: "caught", attachedToRef: "call" },
      xml("extensionElements", {}, ioMapping(to("=[errorCode, errorMessage, reason]", "what"))),
      xml("errorEventDefinition", { errorRef: "BAD" }),
    );
    const source = failing([mapped, end("ce"), flow("cf", "caught", "ce")], "BAD");
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("caller");
    await engine.idle();
    const childId = await childOf(engine, instanceId);

    await fail(engine, childId, "BAD");

    expect(await engine.result(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { what: ["BAD", "no luck", "rain"] },
    });
    expect(await engine.result(childId)).toEqual({
      status: "failed",
      terminationKind: "failure",
      variables: {},
      error: { code: "BAD", message: "no luck", element: "twice" },
    });
  });

  test("F57 reaches a catch-all", async () => {
    const engine = await anEngine({ source: failing(caught("all")) });
    const { instanceId } = await engine.start("caller");
    await engine.idle();

    await fail(engine, await childOf(engine, instanceId), "WHATEVER");

    expect((await engine.result(instanceId)).status).toBe("succeeded");
    expect((await engine.get(instanceId)).completedElements).toContain("all-end");
  });

  test("F68 that no caller catches stays an incident of the child, and can be resolved", async () => {
    const engine = await anEngine({ source: failing(caught("other", "OTHER"), "OTHER") });
    const { instanceId } = await engine.start("caller");
    await engine.idle();
    const childId = await childOf(engine, instanceId);

    await fail(engine, childId, "BAD");

    const { status, incidents } = await engine.get(childId);
    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([{ type: "UNHANDLED_ERROR_EVENT", element: "twice" }]);
    expect(await childOf(engine, instanceId)).toBe(childId);
  });

  test("F57 passes a caller that does not catch it on the way to one that does", async () => {
    const source = file(
      line("outer", [calling("call", "middle")], ...caught("caught", "BAD")),
      line("middle", [calling("middle-call", "double")]),
      double,
      anError("BAD"),
    );
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("outer");
    await engine.idle();
    const middle = await childOf(engine, instanceId);

    await fail(engine, await childOf(engine, middle), "BAD");

    expect((await engine.get(instanceId)).completedElements).toContain("caught-end");
    expect(await engine.result(middle)).toMatchObject({
      status: "failed",
      error: { code: "BAD", element: "middle-call" },
    });
  });
});

/** A worker throws a business error from the only task of an instance. */
async function fail(engine: EmbeddedEngine, instanceId: string, code: string): Promise<void> {
  const { items } = await engine.tasks({ instanceId });
  await engine.fail(items[0]?.taskId ?? "", {
    code,
    message: "no luck",
    variables: { reason: "rain" },
  });
  await engine.idle();
}

describe("a call beside a signal, a message and a timer", () => {
  const source = file(
    line(
      "caller",
      [calling("call", "double")],
      boundary("by-signal", "call", onSignal("stop")),
      boundary("by-message", "call", onMessage("note")),
      boundary("by-timer", "call", timer("timeDuration", "PT1H")),
      ...["signal", "message", "timer"].map(
        (by) => end(`${by}-end`) + flow(`${by}-f`, `by-${by}`, `${by}-end`),
      ),
    ),
    double,
    aSignal("stop"),
    aMessage("note", { key: "=key" }),
  );

  const WINNERS: readonly [string, (engine: EmbeddedEngine, taskId: string) => Promise<unknown>][] =
    [
      ["caller-end", (engine, taskId) => engine.complete(taskId, { variables: { n: 42 } })],
      ["signal-end", (engine) => engine.signal("stop")],
      ["message-end", (engine) => engine.message({ name: "note", correlationKey: "k" })],
      ["timer-end", (engine) => engine.advanceClock("PT1H")],
    ];

  test.each(WINNERS)("D8 has one winner, and the others find no wait: %s", async (ended, win) => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("caller", { variables: { n: 21, key: "k" } });
    await engine.idle();
    const child = await childOf(engine, instanceId);
    const [task] = (await engine.tasks({ instanceId: child })).items;

    await win(engine, task?.taskId ?? "");
    await engine.idle();
    const { completedElements } = await engine.get(instanceId);
    const others = WINNERS.filter(([other]) => other !== ended);
    for (const [, come] of others) await come(engine, task?.taskId ?? "").catch(() => {});
    await engine.idle();

    const after = await engine.get(instanceId);
    expect(after).toMatchObject({ status: "succeeded", waits: [], completedElements });
    expect(completedElements.filter((id) => id.endsWith("-end"))).toEqual([ended]);
    expect((await engine.get(child)).status).toBe(
      ended === "caller-end" ? "succeeded" : "cancelled",
    );
  });
});

describe("a call that is interrupted", () => {
  const guarded = file(
    line(
      "caller",
      [calling("call", "middle")],
      boundary("late", "call", timer("timeDuration", "PT1H")),
      end("too-late"),
      flow("lf", "late", "too-late"),
    ),
    line("middle", [calling("middle-call", "double")]),
    double,
  );

  test("F57 by its boundary timer cancels the child, and the child's own children", async () => {
    const engine = await anEngine({ source: guarded });
    const { instanceId } = await engine.start("caller");
    await engine.idle();
    const middle = await childOf(engine, instanceId);
    const inner = await childOf(engine, middle);

    await engine.advanceClock("PT1H");

    expect((await engine.result(instanceId)).status).toBe("succeeded");
    for (const child of [middle, inner]) {
      expect(await engine.get(child)).toMatchObject({ status: "cancelled", waits: [] });
    }
    expect((await engine.tasks({})).items).toEqual([]);
  });

  test("F7 by cancelling its instance cancels the child; a second cancel does nothing", async () => {
    const engine = await anEngine({ source: guarded });
    const { instanceId } = await engine.start("caller");
    await engine.idle();
    const middle = await childOf(engine, instanceId);

    const first = await engine.cancel(instanceId, { reason: "enough" });
    const second = await engine.cancel(instanceId);
    await engine.idle();

    expect([first, second]).toEqual([{ cancelled: true }, { cancelled: false }]);
    expect(await engine.get(middle)).toMatchObject({ status: "cancelled" });
    expect(await engine.cancel(middle)).toEqual({ cancelled: false });
  });
});

describe("an awaited child", () => {
  test("cannot be cancelled directly: the refusal names its parent", async () => {
    const engine = await anEngine({ source: calls({}) });
    const { instanceId } = await engine.start("caller");
    await engine.idle();
    const childId = await childOf(engine, instanceId);

    const refused = engine.cancel(childId);

    await expect(refused).rejects.toMatchObject({
      code: "instance/awaited",
      message: expect.stringContaining(instanceId),
    });
    expect((await engine.get(childId)).status).toBe("suspended");
  });

  test("keeps the version that it started with when its process is deployed again", async () => {
    const engine = await anEngine({ source: calls({}) });
    const { instanceId } = await engine.start("caller");
    await engine.idle();
    const childId = await childOf(engine, instanceId);
    await engine.deploy(file(line("double", [working("thrice")])));

    const [task] = (await engine.tasks({ instanceId: childId })).items;
    await engine.complete(task?.taskId ?? "", { variables: { n: 7 } });

    expect(await engine.get(childId)).toMatchObject({ definition: { version: 1 } });
    expect((await engine.result(instanceId)).variables).toEqual({ n: 7 });
  });

  test("R14 continues after a restart, and its parent with it", async () => {
    const dataDir = aDataDir();
    const { begun, tasks: hanging } = aHangingTask();
    const before = await anEngine({ dataDir, source: calls({}), tasks: hanging });
    const { instanceId } = await before.start("caller", { variables: { n: 21 } });
    await begun;
    const childId = await childOf(before, instanceId);
    await before.close({ graceMs: 0 });

    const after = await anEngine({ dataDir, tasks });

    // The child owes its task; the parent, whose child exists, owes nothing.
    expect(await after.recovered).toMatchObject({ resumed: 1, resent: 1 });
    expect((await after.result(instanceId)).variables).toEqual({ n: 42 });
    expect((await after.list({ definition: "double" })).items).toMatchObject([
      { instanceId: childId },
    ]);
  });
});

describe("a child that cannot start", () => {
  test.each([
    ["is unknown", {}, /no such definition/],
    ["is disabled", { disable: true }, /disabled/],
    ["has no plain start", { signal: true }, /no plain start/],
  ])("because it %s is an incident at the call; resolving calls again", async (_, how, why) => {
    const engine = await anEngine({
      source: file(line("caller", [calling("call", "double")])),
      tasks,
    });
    const signalled = double.replace(
      /<startEvent id="double-start" \/>/,
      '<startEvent id="double-start"><signalEventDefinition signalRef="go" /></startEvent>',
    );
    if ("disable" in how) {
      await engine.deploy(file(double));
      await engine.disable("double");
    }
    if ("signal" in how)
      await engine.deploy(file(signalled, xml("signal", { id: "go", name: "go" })));
    const { instanceId } = await engine.start("caller", { variables: { n: 21 } });
    await engine.idle();
    const { incidents } = await engine.get(instanceId);

    await engine.deploy(file(double));
    await engine.enable("double");
    await engine.resolveIncident(instanceId, incidents[0]?.incidentId ?? "");

    expect(incidents).toMatchObject([
      { type: "CALLED_ELEMENT_ERROR", element: "call", message: expect.stringMatching(why) },
    ]);
    expect((await engine.result(instanceId)).variables).toEqual({ n: 42 });
  });
});

describe("a bound call", () => {
  const tagged = (tag: string, task: string) =>
    file(
      line("double", [working(task)]).replace(
        ">",
        `><extensionElements><zeebe:versionTag value="${tag}" /></extensionElements>`,
      ),
    );
  const told = { one: () => ({ by: 1 }), two: () => ({ by: 2 }), three: () => ({ by: 3 }) };

  test("to a version tag runs the newest version with that tag", async () => {
    const source = calls({ bindingType: "versionTag", versionTag: "stable" });
    const engine = await anEngine({ source, tasks: told });
    await engine.deploy(tagged("stable", "one"));
    await engine.deploy(tagged("stable", "two"));
    await engine.deploy(tagged("next", "three"));

    const { instanceId } = await engine.start("caller");

    expect((await engine.result(instanceId)).variables).toEqual({ by: 2 });
  });

  test("to an unknown version tag is an incident that names it", async () => {
    const source = calls({ bindingType: "versionTag", versionTag: "stable" });
    const engine = await anEngine({ source });

    const { instanceId } = await engine.start("caller");
    await engine.idle();

    expect((await engine.get(instanceId)).incidents).toMatchObject([
      { type: "CALLED_ELEMENT_ERROR", message: expect.stringMatching(/version tag "stable"/) },
    ]);
  });

  test("to its deployment runs the version that was deployed with it", async () => {
    const together = file(
      line("caller", [calling("call", "double", { bindingType: "deployment" })]),
      line("double", [working("one")]),
    );
    const engine = await anEngine({ source: together, tasks: told });
    await engine.deploy(file(line("double", [working("two")])));

    const { instanceId } = await engine.start("caller");

    expect((await engine.result(instanceId)).variables).toEqual({ by: 1 });
  });
});

describe("a detached call", () => {
  const detached = calls({}, ioMapping(to("=childInstanceId", "begun")), DETACHED);

  test("R13 D12 continues at once, and knows the child's id", async () => {
    const engine = await anEngine({ source: detached, tasks: aHangingTask().tasks });

    const { instanceId } = await engine.start("caller");

    const { variables } = await engine.result(instanceId);
    expect(await engine.get(String(variables.begun))).toMatchObject({
      status: "running",
      definition: { id: "double" },
      parent: { instanceId, awaited: false },
    });
    expect(await trailOf(engine, instanceId)).toContain("child-started call");
  });

  test("is independent of its parent: neither end, failure nor cancel affects the other", async () => {
    const engine = await anEngine({ source: detached });
    const { instanceId } = await engine.start("caller");
    const { variables } = await engine.result(instanceId);
    const childId = String(variables.begun);

    expect(await engine.cancel(childId)).toEqual({ cancelled: true });

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded" });
  });

  test("that cannot start is an incident", async () => {
    const source = file(line("caller", [calling("call", "double", {}, DETACHED)]));
    const engine = await anEngine({ source, tasks });

    const { instanceId } = await engine.start("caller", { variables: { n: 1 } });
    await engine.idle();

    expect((await engine.get(instanceId)).incidents).toMatchObject([
      { type: "CALLED_ELEMENT_ERROR", element: "call" },
    ]);
  });
});

describe("erasing a child", () => {
  test("F7 whose result its parent has taken leaves the parent unchanged", async () => {
    const engine = await anEngine({ source: calls({}), tasks });
    const { instanceId } = await engine.start("caller", { variables: { n: 21 } });
    await engine.result(instanceId);
    const [child] = (await engine.list({ definition: "double" })).items;

    await engine.erase(child?.instanceId ?? "");

    expect((await engine.result(instanceId)).variables).toEqual({ n: 42 });
  });
});
