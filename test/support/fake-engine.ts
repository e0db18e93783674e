import type { Diagnostic } from "../../lib/definition/diagnostic.ts";
import type {
  DefinitionView,
  Engine,
  InstanceView,
  Source,
  StartRequest,
} from "../../lib/engine/engine.ts";
import { EngineError, type ErrorCode } from "../../lib/ports/engine-error.ts";

const AT = "2026-07-01T10:00:00.000Z";

/** What the fake was asked, by the name of the method. */
export type Asked = readonly [method: string, ...args: readonly unknown[]];

/**
 * An engine of a few canned answers, for tests of what stands before the engine. It knows the
 * definition `order`, deployable from any source but one that contains `broken`, the instance
 * `live` with the task `live:1` and the incident `i1`, and the instance `ended`.
 */
export function fakeEngine(overrides: Partial<Engine> = {}): {
  engine: Engine;
  asked: readonly Asked[];
} {
  const asked: Asked[] = [];
  const canned = { ...cannedEngine(), ...overrides };
  const engine = new Proxy(canned, {
    get: (target, name: keyof Engine) => {
      const method = target[name];
      return (...args: unknown[]) => {
        asked.push([name, ...args]);
        return Reflect.apply(method, target, args);
      };
    },
  });
  return { engine, asked };
}

/** An error as the engine throws it. */
export function engineError(code: ErrorCode, details?: readonly Diagnostic[]): EngineError {
  const told = {
    happened: "It did not go",
    where: "here",
    fix: "Do it otherwise.",
    retryable: false,
  };
  return new EngineError(code, details === undefined ? told : { ...told, details });
}

/** What the fake finds wrong with a broken source. */
export const aDiagnostic: Diagnostic = {
  severity: "error",
  code: "bpmn/broken",
  message: "The file is broken.",
  element: "task",
  line: 3,
  hint: "Mend it.",
};

function cannedEngine(): Engine {
  const byDefinition = <T>(id: string, answer: T): T => {
    if (id !== "order") throw engineError("definition/not-found");
    return answer;
  };
  const byInstance = <T>(id: string, answer: T): T => {
    if (id !== "live" && id !== "ended") throw engineError("instance/not-found");
    return answer;
  };
  const byTask = <T>(id: string, answer: T): T => {
    if (id !== "live:1") throw engineError("task/not-found");
    return answer;
  };
  return {
    handle: () => Promise.reject(new Error("not faked")),
    wake: () => Promise.reject(new Error("not faked")),
    advance: () => Promise.reject(new Error("not faked")),
    recover: async () => ({
      resumed: 0,
      rearmed: 1,
      timersFired: 0,
      resent: 0,
      mailboxesPoked: 0,
      broadcastsResumed: 0,
      skipped: 2,
    }),
    deploy: async (source) => {
      compile(source);
      const { enabled: _, deployedAt: __, live: ___, ...deployed } = aDefinition();
      const warning: Diagnostic = { ...aDiagnostic, severity: "warning" };
      const definitions = [{ ...deployed, warnings: [warning] }];
      return { created: !source.source.includes("again"), definitions };
    },
    validate: async ({ source }) =>
      source.includes("broken")
        ? { valid: false, diagnostics: [aDiagnostic] }
        : { valid: true, diagnostics: [] },
    definitions: async ({ limit, cursor }) => {
      if (cursor !== undefined && cursor !== "more") throw engineError("store/cursor-invalid");
      return { items: [aDefinition()], ...(limit === 1 && { nextCursor: "more" }) };
    },
    definition: async (id, version = 1) => {
      if (version !== 1) throw engineError("definition/not-found");
      return byDefinition(id, aDefinition());
    },
    versions: async (id) => byDefinition(id, { items: [aDefinition()] }),
    source: async (id) => byDefinition(id, { notation: "bpmn", text: "<a>ü</a>" }),
    enable: async (id) => byDefinition(id, aDefinition()),
    disable: async (id) => byDefinition(id, { ...aDefinition(), enabled: false }),
    undeploy: async (id) => byDefinition(id, { undeployed: true }),
    start: async (id, request) => byDefinition(id, anInstance("live", request)),
    get: async (id) => byInstance(id, anInstance(id)),
    list: async () => ({ items: [anInstance("live"), anInstance("ended")] }),
    result: async (id) => {
      if (id === "live") throw engineError("instance/not-ended");
      const { variables } = anInstance(id);
      return byInstance(id, {
        status: "succeeded",
        terminationKind: "success",
        result: variables,
        variables,
      });
    },
    waits: async (id) => byInstance(id, { items: anInstance(id).waits }),
    history: async (id) =>
      byInstance(id, { items: [{ seq: 1, at: AT, type: "element-entered", element: "pay" }] }),
    cancel: async (id) => byInstance(id, { cancelled: id === "live" }),
    resolveIncident: async (id, incidentId) => {
      if (incidentId !== "i1") throw engineError("incident/not-found");
      return byInstance(id, { resolved: true });
    },
    tasks: async () => ({
      items: [
        {
          taskId: "live:1",
          type: "charge",
          instanceId: "live",
          element: "pay",
          definition: { id: "order", version: 1 },
          variables: { total: 42 },
          headers: { region: "eu" },
          attempt: 1,
          retries: 3,
          idempotencyKey: "live:1",
          createdAt: AT,
          runsHere: false,
        },
      ],
    }),
    completeTask: async (id) => byTask(id, { completed: true }),
    failTask: async (id) => byTask(id, { failed: true }),
  };
}

function compile({ notation, source }: Source): void {
  if (notation !== "bpmn") throw engineError("definition/notation-unknown");
  if (source.includes("broken"))
    throw engineError("definition/invalid", [aDiagnostic, aDiagnostic]);
}

function aDefinition(): DefinitionView {
  return {
    id: "order",
    version: 1,
    hash: "abc",
    notation: "bpmn",
    name: "An order",
    startEvents: [{ element: "start", kind: "none" }],
    enabled: true,
    deployedAt: AT,
    live: { count: 1, more: false },
  };
}

function anInstance(id: string, request: StartRequest = {}): InstanceView {
  const { variables = { total: 42 }, instanceId = id, businessKey, tags } = request;
  const common = {
    instanceId,
    definition: { id: "order", version: 1 },
    ...(businessKey !== undefined && { businessKey }),
    ...(tags !== undefined && { tags }),
    variables,
    startedAt: AT,
    updatedAt: AT,
  };
  if (id === "ended") {
    return {
      ...common,
      status: "succeeded",
      terminationKind: "success",
      activeElements: [],
      completedElements: ["start", "pay", "end"],
      waits: [],
      incidents: [],
      endedAt: AT,
      result: variables,
    };
  }
  return {
    ...common,
    status: "running",
    activeElements: ["pay"],
    completedElements: ["start"],
    waits: [
      {
        kind: "task",
        element: "pay",
        since: AT,
        taskType: "charge",
        taskId: "live:1",
        runsHere: false,
        wakeWith: { method: "POST", path: "/v1/tasks/live%3A1/complete", body: { variables: {} } },
      },
    ],
    incidents: [
      { incidentId: "i1", type: "JOB_NO_RETRIES", element: "pay", message: "no", raisedAt: AT },
    ],
  };
}
