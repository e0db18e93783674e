// Requests are defined once: HTTP and the library report the same errors.
import { describe, expect, test } from "vitest";
import { MAX_RETRIES, MAX_TEXT_LENGTH } from "../../lib/api/limits.ts";
import {
  MAX_BUSINESS_KEY_LENGTH,
  MAX_CANDIDATES,
  MAX_NAME_LENGTH,
  MAX_TAG_LENGTH,
  MAX_TAGS,
} from "../../lib/definition/limits.ts";
import { type LibraryCalls, libraryCalls } from "../../lib/embedded/library-calls.ts";
import { fakeApi } from "../api/fake-api.ts";
import { fakeEngine } from "../support/fake-engine.ts";

type Call = keyof LibraryCalls;
type Faults = readonly Readonly<{ at: string; message: string }>[];
type Details = readonly Readonly<{ path: string; message: string }>[];

/** The HTTP route of each call, and the arguments of the library before the request. */
const BODIES: Readonly<Partial<Record<Call, readonly [string, string, ...string[]]>>> = {
  start: ["POST", "/v1/definitions/order/instances", "order"],
  cancel: ["POST", "/v1/instances/live/cancel", "live"],
  resolveIncident: ["POST", "/v1/instances/live/incidents/i1/resolve", "live", "i1"],
  patchVariables: ["PATCH", "/v1/instances/live/variables", "live"],
  resolveIncidents: ["POST", "/v1/incidents:resolve"],
  purge: ["POST", "/v1/instances:purge"],
  claim: ["POST", "/v1/tasks/live:1/claim", "live:1"],
  unclaim: ["POST", "/v1/tasks/live:1/unclaim", "live:1"],
  complete: ["POST", "/v1/tasks/live:1/complete", "live:1"],
  fail: ["POST", "/v1/tasks/live:1/fail", "live:1"],
  activate: ["POST", "/v1/tasks/activate"],
  heartbeat: ["POST", "/v1/tasks/live:1/heartbeat", "live:1"],
  setTaskType: ["PUT", "/v1/task-types/charge", "charge"],
  message: ["POST", "/v1/messages"],
  event: ["POST", "/v1/events"],
  setEventType: ["PUT", "/v1/event-types/paid", "paid"],
};

const long = "x".repeat(MAX_NAME_LENGTH + 1);
const longText = "x".repeat(MAX_TEXT_LENGTH + 1);
const failed = { message: "no" };
const poll = { type: "charge", max: 1, lockSeconds: 30, worker: "anna" };

/** A call, a request, and the paths of all its errors. */
type Wrong = readonly [what: string, call: Call, request: object, ...paths: string[]];

/** What the library once accepted and HTTP refused, and the other way round. */
const DRIFTED: readonly Wrong[] = [
  ["a failure's message that is too long", "fail", { message: longText }, "message"],
  ["more retries than there may be", "fail", { ...failed, retries: MAX_RETRIES + 1 }, "retries"],
  ["an empty code", "fail", { ...failed, code: "" }, "code"],
  ["a code that is too long", "fail", { ...failed, code: longText }, "code"],
  ["an empty lock token of a failure", "fail", { ...failed, lockToken: "" }, "lockToken"],
  ["an empty lock token of a completion", "complete", { lockToken: "" }, "lockToken"],
  ["an empty lock token of a heartbeat", "heartbeat", { lockToken: "" }, "lockToken"],
  ["a reason that is too long", "cancel", { reason: longText }, "reason"],
  ["no retries for what is tried again", "resolveIncident", { retries: 0 }, "retries"],
  ["no retries for many", "resolveIncidents", { retries: 0 }, "retries"],
  ["an empty queue", "setTaskType", { queueArn: "" }, "queueArn"],
  ["a day as an instant", "purge", { filter: { endedBefore: "2030-01-31" } }, "filter.endedBefore"],
  ["a business key with NUL", "start", { businessKey: "a\0b" }, "businessKey"],
  ["a tag with NUL", "start", { tags: ["a", "a\0b"] }, "tags.1"],
  ["half a character in a key", "start", { businessKey: "\ud800" }, "businessKey"],
  ["half a character in a value", "complete", { variables: { a: ["\ud800"] } }, "variables.a.0"],
  ["events that expire at once", "setEventType", { expireAfter: "PT0S" }, "expireAfter"],
];

const STATED: readonly Wrong[] = [
  [
    "everything at once",
    "start",
    { version: 0, instanceId: "a b", businessKey: "", tags: "a", deadline: "soon", vars: {} },
    "version",
    "instanceId",
    "businessKey",
    "tags",
    "deadline",
    "vars",
  ],
  [
    "names that no expression can say",
    "start",
    { variables: { "a-b": 1, in: 2, fine: 3 } },
    "variables.a-b",
    "variables.in",
  ],
  [
    "a business key that is too long",
    "start",
    { businessKey: "x".repeat(MAX_BUSINESS_KEY_LENGTH + 1) },
    "businessKey",
  ],
  ["a tag that is too long", "start", { tags: ["x".repeat(MAX_TAG_LENGTH + 1)] }, "tags.0"],
  ["too many tags", "start", { tags: Array.from({ length: MAX_TAGS + 1 }, String) }, "tags"],
  ["no variables", "patchVariables", {}, "variables"],
  ["a name that is none", "patchVariables", { variables: { "a b": 1 } }, "variables.a b"],
  [
    "a filter that is none",
    "purge",
    { filter: { status: "running", before: 1 }, dryRun: 1, limit: 201 },
    "filter.status",
    "filter.before",
    "dryRun",
    "limit",
  ],
  ["an empty type", "resolveIncidents", { filter: { type: "" } }, "filter.type"],
  ["nobody", "claim", { user: "" }, "user"],
  ["nobody", "unclaim", {}, "user"],
  ["a group without a name", "claim", { user: "anna", groups: [""] }, "groups.0"],
  [
    "too many groups",
    "claim",
    { user: "anna", groups: Array.from({ length: MAX_CANDIDATES + 1 }, String) },
    "groups",
  ],
  [
    "a failure without a message",
    "fail",
    { retries: -1, retryAfter: "1h" },
    "message",
    "retries",
    "retryAfter",
  ],
  [
    "a poll out of bounds",
    "activate",
    { ...poll, max: 0, lockSeconds: 0.5, worker: "", waitSeconds: 99 },
    "max",
    "lockSeconds",
    "worker",
    "waitSeconds",
  ],
  ["a type of no characters", "activate", { ...poll, type: "" }, "type"],
  ["a type of too many characters", "activate", { ...poll, type: long }, "type"],
  ["a type of too many bytes", "activate", { ...poll, type: "字".repeat(112) }, "type"],
  ["a type with NUL", "activate", { ...poll, type: "a\0b" }, "type"],
  [
    "a message that is none",
    "message",
    { name: "", correlationKey: true, payload: [], messageId: long, timeToLive: "-PT1H", ttl: 1 },
    "name",
    "correlationKey",
    "payload",
    "messageId",
    "timeToLive",
    "ttl",
  ],
  [
    "names that are too long",
    "event",
    { name: long, id: long, target: "" },
    "name",
    "id",
    "target",
  ],
  [
    "settings of no event",
    "setEventType",
    { consumeOnRead: 1, deliveryMode: "Never", onTargetTerminated: null },
    "consumeOnRead",
    "deliveryMode",
    "onTargetTerminated",
  ],
];

/** What the library reports for the same list, where a query has text. */
const QUERIES: readonly (readonly [Call, object, string, ...string[]])[] = [
  ["list", { limit: 0, status: "live" }, "/v1/instances?limit=0&status=live", "limit", "status"],
  [
    "list",
    { startedAfter: "soon", a: "1" },
    "/v1/instances?startedAfter=soon&a=1",
    "startedAfter",
    "a",
  ],
  ["list", { incident: false }, "/v1/instances?incident=false", "incident"],
  ["list", { definition: "a\0" }, "/v1/instances?definition=a%00", "definition"],
  ["incidents", { tag: "", limit: 201 }, "/v1/incidents?tag=&limit=201", "tag", "limit"],
  ["tasks", { type: "a\0b", overdue: 1 }, "/v1/tasks?type=a%00b&overdue=1", "type", "overdue"],
  ["tasks", { state: "done", assignee: "" }, "/v1/tasks?state=done&assignee=", "state", "assignee"],
  ["deadLetters", { name: "", cursor: "" }, "/v1/dead-letters?name=&cursor=", "name", "cursor"],
];

async function bothApis() {
  const { api, asked: overHttp } = await fakeApi();
  const { engine, asked: byLibrary } = fakeEngine();
  // Plain JavaScript may pass anything, whatever the types say.
  const library = libraryCalls(engine) as unknown as Record<
    Call,
    (...given: unknown[]) => Promise<unknown>
  >;
  return { api, library, asked: () => [...overHttp, ...byLibrary] };
}

const dotted = (pointer: string): string => pointer.replace(/^\//, "").replaceAll("/", ".");
const refusalOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

describe("HTTP and the library refuse alike", () => {
  const wrong = [...DRIFTED, ...STATED].map(([what, call, request, ...paths]) => ({
    name: `${what} in ${call}`,
    call,
    request,
    paths,
  }));

  test.each(wrong)("$name", async ({ call, request, paths }) => {
    const { api, library, asked } = await bothApis();
    const [method, path, ...before] = BODIES[call] ?? ["", ""];

    const answer = await api(method, path, { json: request });
    const refusal = await refusalOf(library[call](...before, request));

    expect(answer).toMatchObject({ status: 400, json: { code: "request/invalid" } });
    expect(refusal).toMatchObject({ name: "EngineError", code: "request/invalid" });
    const { errors } = answer.json as { errors: Faults };
    const { details } = refusal as { details: Details };
    expect(new Set(errors.map(({ at }) => dotted(at)))).toEqual(new Set(paths));
    expect(new Set(details.map((it) => it.path))).toEqual(new Set(paths));
    expect(asked()).toEqual([]);
  });

  const lists = QUERIES.map(([call, filter, path, ...paths]) => ({ call, filter, path, paths }));

  test.each(lists)("$path", async ({ call, filter, path, paths }) => {
    const { api, library, asked } = await bothApis();

    const [plain = "", query = ""] = path.split("?");
    const answer = await api("GET", plain, { query });
    const refusal = await refusalOf(library[call](filter));

    expect(answer).toMatchObject({ status: 400, json: { code: "request/invalid" } });
    const { errors } = answer.json as { errors: Faults };
    const { details } = refusal as { details: Details };
    expect(errors.map(({ at }) => at).toSorted()).toEqual(paths.toSorted());
    expect(details.map((it) => it.path).toSorted()).toEqual(paths.toSorted());
    expect(asked()).toEqual([]);
  });

  test("a signal, whose payload is a separate argument in the library", async () => {
    const { api, library, asked } = await bothApis();

    const json = { name: long, payload: { "a-b": 1 }, id: "" };
    const answer = await api("POST", "/v1/signals", { json });
    const refusal = await refusalOf(library.signal(long, { "a-b": 1 }, { id: "" }));

    const paths = ["name", "payload.a-b", "id"];
    const { errors } = answer.json as { errors: Faults };
    expect(errors.map(({ at }) => dotted(at))).toEqual(paths);
    expect((refusal as { details: Details }).details.map(({ path }) => path)).toEqual(paths);
    expect(asked()).toEqual([]);
  });

  test.each(["", long, "字".repeat(112), "a\0b", "a\ud800"])(
    "the task type %j in every call",
    async (type) => {
      const { library, asked } = await bothApis();

      for (const call of [
        library.activate({ ...poll, type }),
        library.taskType(type),
        library.setTaskType(type, { queueArn: null }),
        library.tasks({ type }),
      ]) {
        await expect(call).rejects.toMatchObject({ details: [{ path: "type" }] });
      }
      expect(asked()).toEqual([]);
    },
  );

  test("a property that a copy in code would lose", async () => {
    const { api, library, asked } = await bothApis();
    const body = '{"variables":{"__proto__":1}}';
    const request: object = JSON.parse(body);

    const headers = { "content-type": "application/json" };
    const answer = await api("POST", "/v1/definitions/order/instances", { body, headers });
    const refusal = await refusalOf(library.start("order", request));

    expect(answer).toMatchObject({ json: { errors: [{ at: "/variables/__proto__" }] } });
    expect(refusal).toMatchObject({ details: [{ path: "variables.__proto__" }] });
    expect(asked()).toEqual([]);
  });
});
