import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import { sequence, service } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const source = sequence(service("work"));

/** Plain JavaScript may pass anything, whatever the types say. */
type Anything = Record<keyof EmbeddedEngine, (...given: unknown[]) => Promise<unknown>>;
const untyped = (engine: EmbeddedEngine) => engine as unknown as Anything;

async function anOpenDoor(): Promise<Anything> {
  return untyped(await anEngine({ source }));
}

const TEXT = "must be a string";
const EMPTY = "must not be empty";
const OBJECT = "must be an object";

/** A call, its arguments, and all its errors: paths, and how each message begins. */
type Wrong = readonly [keyof EmbeddedEngine, readonly unknown[], Readonly<Record<string, string>>];

const NOTHING_GIVEN: readonly Wrong[] = [
  ["deploy", [], { source: OBJECT }],
  ["validate", [], { source: OBJECT }],
  ["definition", [], { id: TEXT }],
  ["versions", [], { id: TEXT }],
  ["source", [], { id: TEXT, version: "must be a whole number from 1" }],
  ["enable", [], { id: TEXT }],
  ["disable", [], { id: TEXT }],
  ["undeploy", [], { id: TEXT }],
  ["start", [], { definitionId: TEXT }],
  ["get", [], { instanceId: TEXT }],
  ["waits", [], { instanceId: TEXT }],
  ["history", [], { instanceId: TEXT }],
  ["cancel", [], { instanceId: TEXT }],
  ["resolveIncident", [], { instanceId: TEXT, incidentId: TEXT }],
  ["patchVariables", [], { instanceId: TEXT, request: OBJECT }],
  ["result", [], { instanceId: TEXT }],
  ["waitForEnd", [], { instanceId: TEXT, timeoutMs: "must be a number of milliseconds" }],
  ["complete", [], { taskId: TEXT }],
  ["fail", [], { taskId: TEXT, request: OBJECT }],
  ["signal", [], { name: TEXT }],
  ["receipt", [], { broadcastId: TEXT }],
  ["message", [], { request: OBJECT }],
  ["event", [], { request: OBJECT }],
  ["eventType", [], { name: TEXT }],
  ["setEventType", [], { name: TEXT }],
  ["replayDeadLetter", [], { id: TEXT }],
  ["removeDeadLetter", [], { id: TEXT }],
  ["advanceClock", [], { by: TEXT }],
];

const NULLS: readonly Wrong[] = [
  ["definitions", [null], { page: OBJECT }],
  ["versions", ["p", null], { page: OBJECT }],
  ["start", ["p", null], { request: OBJECT }],
  ["list", [null], { filter: OBJECT }],
  ["history", ["one", null], { page: OBJECT }],
  ["cancel", ["one", null], { request: OBJECT }],
  ["incidents", [null], { filter: OBJECT }],
  ["resolveIncidents", [null], { request: OBJECT }],
  ["purge", [{ filter: null }], { filter: OBJECT }],
  ["tasks", [null], { filter: OBJECT }],
  ["complete", ["one.k1.1", null], { request: OBJECT }],
  ["signal", ["a", null, null], { payload: OBJECT, options: OBJECT }],
  ["message", [null, null], { request: OBJECT, key: TEXT }],
  ["event", [[], null], { request: OBJECT, key: TEXT }],
  ["setEventType", ["a", null], { config: OBJECT }],
  ["deadLetters", [null], { filter: OBJECT }],
  ["result", ["one", null], { options: OBJECT }],
  ["close", [null], { options: OBJECT }],
];

const SETTINGS: readonly Wrong[] = [
  [
    "deploy",
    [{ notation: "constructor", source: 1 }],
    { notation: 'must be "bpmn"', source: TEXT },
  ],
  [
    "start",
    ["p", { version: 0, businessKey: 1, tags: ["a", 1], deadline: 5, instanceId: 7 }],
    {
      instanceId: TEXT,
      businessKey: TEXT,
      version: "must be at least 1",
      "tags.1": TEXT,
      deadline: TEXT,
    },
  ],
  ["start", ["p", { deadline: "soon" }], { deadline: "is not a date and time" }],
  ["start", ["p", { deadline: "-PT1H" }], { deadline: "must have no negative part" }],
  [
    "start",
    ["p", { tags: "a", vars: {} }],
    { tags: "must be an array, not a string", vars: "is not known here" },
  ],
  [
    "purge",
    [{ filter: { status: "running", endedBefore: 5, before: 1 }, dryRun: 1, limit: 0 }],
    {
      "filter.status": 'must be "succeeded", "failed" or "cancelled"',
      "filter.endedBefore": TEXT,
      "filter.before": "is not known here",
      dryRun: "must be true or false, not a number",
      limit: "must be a whole number from 1 to 200",
    },
  ],
  [
    "resolveIncidents",
    [{ filter: { type: "", tag: 1 }, retries: -1 }],
    {
      "filter.type": EMPTY,
      "filter.tag": TEXT,
      retries: "must be at least 1",
    },
  ],
  [
    "list",
    [
      {
        status: "live",
        incident: false,
        startedAfter: 5,
        startedBefore: "soon",
        limit: 0,
        cursor: 1,
      },
    ],
    {
      status: 'must be "running", "suspended"',
      incident: "must be true",
      startedAfter: TEXT,
      startedBefore: "is not an RFC 3339 timestamp",
      limit: "must be a whole number from 1 to 200",
      cursor: TEXT,
    },
  ],
  ["list", [{ definition: "\ud800" }], { definition: "holds half a surrogate pair" }],
  ["tasks", [{ type: 1, instanceId: 1 }], { type: TEXT, instanceId: TEXT }],
  [
    "fail",
    ["one.k1.1", { retries: -1, retryAfter: 5, code: 1 }],
    {
      message: TEXT,
      code: TEXT,
      retries: "must be at least 0",
      retryAfter: TEXT,
    },
  ],
  ["signal", ["a", {}, { id: "" }], { id: EMPTY }],
  [
    "signal",
    ["a", { "a-b": 1, in: 2 }],
    { "payload.a-b": '"a-b" cannot name', "payload.in": '"in" cannot name' },
  ],
  [
    "message",
    [{ name: "a\0", correlationKey: true, payload: [], messageId: "\ud800", timeToLive: 5 }],
    {
      name: "must not contain the character NUL",
      correlationKey: "must be a string or a number",
      payload: OBJECT,
      messageId: "holds half a surrogate pair",
      timeToLive: TEXT,
    },
  ],
  ["message", [{ name: "a", timeToLive: null }], { timeToLive: TEXT }],
  ["message", [{ name: "a", timeToLive: "-PT1H" }], { timeToLive: "must have no negative part" }],
  [
    "message",
    [{ name: "a", timeToLive: "1h", ttl: 1 }],
    { timeToLive: "is not a duration", ttl: "is not known" },
  ],
  ["message", [{ name: "a", toString: "b" }], { toString: "is not known here" }],
  [
    "event",
    [{ name: "", payload: Number.NaN, target: 1, id: 1 }],
    { name: EMPTY, payload: "is NaN", target: TEXT, id: TEXT },
  ],
  [
    "setEventType",
    ["a", { consumeOnRead: 1, deliveryMode: "Never", expireAfter: 5, onTargetTerminated: null }],
    {
      consumeOnRead: "must be true or false, not a number",
      deliveryMode: 'must be "AfterWait", "AfterCreate" or "All"',
      expireAfter: TEXT,
      onTargetTerminated: 'must be "discard", "broadcast" or "deadLetter"',
    },
  ],
  ["setEventType", ["a", { expireAfter: "PT0S" }], { expireAfter: "must be longer than zero" }],
  ["setEventType", ["a", { expireAfter: "P1DT-1H" }], { expireAfter: "must be longer than zero" }],
  ["deadLetters", [{ name: "", limit: 201 }], { name: EMPTY, limit: "must be a whole number" }],
  ["result", ["one", { timeoutMs: Number.NaN }], { timeoutMs: "must be a number of milliseconds" }],
  ["close", [{ graceMs: "soon" }], { graceMs: "must be a number of milliseconds" }],
];

describe("a call of the library", () => {
  test.each([...NOTHING_GIVEN, ...NULLS, ...SETTINGS])(
    "%s of %j is refused with everything that is wrong",
    async (call, given, wrong) => {
      const door = await anOpenDoor();

      const refusal = await door[call](...given).catch((error: unknown) => error);

      const { details, message } = refusal as {
        details: readonly { path: string; message: string }[];
        message: string;
      };
      expect(refusal).toMatchObject({ name: "EngineError", code: "request/invalid" });
      expect(new Set(details.map(({ path }) => path))).toEqual(new Set(Object.keys(wrong)));
      for (const [path, said] of Object.entries(wrong)) {
        const detail = details.find((it) => it.path === path)?.message ?? "";
        expect(detail).toContain(said);
        expect(message).toContain(detail.replace(/\.$/, ""));
        expect(message).toContain(path);
      }
    },
  );

  test("names every variable that no expression could read", async () => {
    const engine = await anEngine({ source });

    const refused = engine.start("p", { variables: { "a-b": 1, in: 2, fine: 3 } });

    await expect(refused).rejects.toMatchObject({
      details: [
        { path: "variables.a-b", message: expect.stringContaining('"a-b" cannot name a variable') },
        { path: "variables.in", message: expect.stringContaining('"in" cannot name a variable') },
      ],
    });
  });

  test("treats undefined as absent, as an argument and as a setting", async () => {
    const door = await anOpenDoor();
    const left = undefined;
    await door.setEventType("paid", { expireAfter: "PT1H" });

    const type = await door.setEventType("paid", { expireAfter: left, consumeOnRead: false });
    await door.start("p", { instanceId: "one", variables: left, tags: left, version: left }, left);
    const signal = await door.signal("closed", left, { id: left });
    const message = await door.message({ name: "a", timeToLive: left, messageId: left }, left);
    const event = await door.event({ name: "a", payload: left, target: left, id: left });

    expect(type).toMatchObject({ expireAfter: "P7D", consumeOnRead: false });
    expect(signal).toMatchObject({ broadcastId: expect.any(String), deliveredCount: 0 });
    expect(message).toMatchObject({ outcome: "buffered" });
    expect(event).toMatchObject({ outcome: "dropped" });
    for (const call of ["definitions", "list", "tasks", "deadLetters"] as const) {
      const listed = await door[call]({ limit: left, cursor: left });
      expect(listed).toMatchObject({ items: expect.any(Array) });
    }
    expect(await door.history("one", { limit: left })).toMatchObject({ items: expect.any(Array) });
    expect(await door.versions("p", { limit: left })).toMatchObject({ items: [{ version: 1 }] });
    expect(await door.cancel("one", { reason: left }, left)).toEqual({ cancelled: true });
  });

  test.each(["", "€".repeat(1_000), "\ud800", "a\0b"])("finds nothing by the id %j", async (id) => {
    const engine = await anEngine({ source });

    const calls = [
      [engine.get(id), "instance/not-found"],
      [engine.waits(id), "instance/not-found"],
      [engine.history(id), "instance/not-found"],
      [engine.cancel(id), "instance/not-found"],
      [engine.result(id), "instance/not-found"],
      [engine.resolveIncident(id, id), "instance/not-found"],
      [engine.complete(id), "task/not-found"],
      [engine.fail(id, { message: "no" }), "task/not-found"],
      [engine.receipt(id), "broadcast/not-found"],
      [engine.replayDeadLetter(id), "dead-letter/not-found"],
      [engine.removeDeadLetter(id), "dead-letter/not-found"],
    ] as const;

    for (const [call, code] of calls) await expect(call).rejects.toMatchObject({ code });
    expect((await engine.tasks({ instanceId: id })).items).toEqual([]);
  });

  test("that is refused has no effect", async () => {
    const engine = await anEngine({ source });
    const door = untyped(engine);

    await expect(door.close({ graceMs: -1 })).rejects.toMatchObject({ code: "request/invalid" });
    await expect(door.setEventType("a", { deliveryMode: "Never" })).rejects.toThrow();

    expect(await engine.eventType("a")).toMatchObject({ declared: false });
  });

  test("takes a number as correlation key, as HTTP and processes do", async () => {
    const engine = await anEngine();
    const half = await engine.message({ name: "paid", correlationKey: 10.5, messageId: "m" });
    expect(half).toEqual({ messageId: "m", outcome: "buffered" });
    const again = await engine.message({ name: "paid", correlationKey: "10.5", messageId: "m" });
    expect(again).toEqual({ messageId: "m", outcome: "duplicate" });
  });
});
