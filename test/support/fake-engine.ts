import type { Diagnostic } from "../../lib/definition/diagnostic.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { EngineError, type ErrorCode } from "../../lib/ports/engine-error.ts";
import type { Source } from "../../lib/shapes/definitions.ts";
import {
  AT,
  aDeadLetter,
  aDefinition,
  aDiagnostic,
  anActivatedTask,
  anIncident,
  anInstance,
  aReceipt,
  aSchedule,
  aTaskOf,
  aUserTask,
  undeclared,
} from "./canned-views.ts";

/** The calls to the fake, by the name of the method. */
export type Asked = readonly [method: string, ...args: readonly unknown[]];

/**
 * An engine with a few canned responses, for tests of the layers in front of the engine. It knows
 * the definition `order`, deployable from any source but one that contains `broken`, the instance
 * `live` with the task `live:1` and the incident `i1`, and the instance `ended`. Signals and events
 * named `many` are not delivered within the call, messages named `full` meet a full mailbox and
 * those named `nobody` no wait; `known` is a declared event type. There is one receipt and one dead
 * letter.
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
  const byLetter = <T>(id: string, answer: T): T => {
    if (id !== aDeadLetter.id) throw engineError("dead-letter/not-found");
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
      eventsOffered: 0,
      skipped: 2,
      unreadable: 1,
      failed: 0,
      troubles: [
        {
          key: { pk: "default#I#old", sk: "S" },
          instanceId: "old",
          code: "store/item-too-old",
          message: "It is too old.",
        },
      ],
    }),
    erase: async () => undefined,
    recoverAll: async () => ({
      resumed: 0,
      rearmed: 1,
      timersFired: 0,
      resent: 0,
      mailboxesPoked: 0,
      broadcastsResumed: 0,
      eventsOffered: 0,
      skipped: 2,
      unreadable: 1,
      failed: 0,
      troubles: [
        {
          key: { pk: "default#I#old", sk: "S" },
          instanceId: "old",
          code: "store/item-too-old",
          message: "It is too old.",
        },
      ],
    }),
    adopt: () => Promise.reject(new Error("not faked")),
    sweep: () => Promise.reject(new Error("not faked")),
    turnWheel: () => Promise.reject(new Error("not faked")),
    giveUp: () => Promise.reject(new Error("not faked")),
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
    patchVariables: async (id, { scope }) => {
      if (scope === "closed") throw engineError("instance/scope-not-found");
      if (scope === "twice") throw engineError("instance/scope-ambiguous");
      if (id === "ended") throw engineError("instance/not-live");
      return byInstance(id, { patched: true });
    },
    incidents: async (_, { limit }) => ({
      items: [anIncident],
      ...(limit === 1 && { nextCursor: "more" }),
    }),
    resolveIncidents: async ({ dryRun = true, limit }) => ({
      dryRun,
      matched: 2,
      resolved: dryRun ? 0 : 1,
      gone: 0,
      refused: dryRun ? 0 : 1,
      items: dryRun
        ? [{ ...anIncident, outcome: "matched" }]
        : [
            { ...anIncident, outcome: "resolved" },
            {
              ...anIncident,
              outcome: "refused",
              problem: { code: "engine/busy", message: "The instance is too busy." },
            },
          ],
      ...(limit === 1 && { nextCursor: "more" }),
    }),
    purge: async ({ dryRun = true }) => ({
      dryRun,
      matched: 1,
      purged: dryRun ? 0 : 1,
      gone: 0,
      refused: 0,
      items: [
        {
          instanceId: "ended",
          definition: { id: "order", version: 1 },
          status: "succeeded",
          endedAt: AT,
          outcome: dryRun ? "matched" : "purged",
        },
      ],
    }),
    signal: async ({ name, id }, key) => {
      const broadcastId = id ?? key ?? "made";
      return name === "many"
        ? { broadcastId }
        : { broadcastId, deliveredCount: 3, startedCount: 1 };
    },
    receipt: async (id) => {
      if (id !== aReceipt.broadcastId) throw engineError("broadcast/not-found");
      return aReceipt;
    },
    message: async ({ name, messageId }, key) => {
      if (name === "full") throw engineError("message/mailbox-full");
      if (name === "nobody") throw engineError("message/no-waiter");
      return { messageId: messageId ?? key ?? "made", outcome: "delivered", instanceId: "live" };
    },
    event: async ({ name, target, id: own }, key = "made") => {
      const id = own ?? key;
      if (target === undefined) {
        return name === "many" ? { id } : { id, outcome: "delivered", deliveredCount: 2 };
      }
      if (target === "ended") throw engineError("instance/ended");
      return byInstance(target, { id, outcome: "queued" });
    },
    setEventType: async (name, config) => ({ name, declared: true, ...config }),
    eventType: async (name) => ({ name, declared: name === "known", ...undeclared }),
    deadLetters: async ({ name = aDeadLetter.name }) => ({
      items: name === aDeadLetter.name ? [aDeadLetter] : [],
    }),
    replayDeadLetter: async (id) =>
      byLetter(id, { id: `${id}~r1`, outcome: "delivered", deliveredCount: 1 }),
    removeDeadLetter: async (id) => byLetter(id, { removed: true }),
    schedules: async () => ({ items: [aSchedule] }),
    removeSchedule: async (id) => {
      if (id !== aSchedule.id) throw engineError("schedule/not-found");
      return { removed: true };
    },
    tasks: async () => ({ items: [aTaskOf("live:1")] }),
    task: async (id) => byTask(id, aUserTask),
    claimTask: async (id, { user }) => {
      if (user === "late") throw engineError("task/claimed");
      return byTask(id, { claimed: true });
    },
    unclaimTask: async (id) => byTask(id, { unclaimed: true }),
    completeTask: async (id) => byTask(id, { completed: true }),
    failTask: async (id) => byTask(id, { failed: true }),
    activate: async () => ({ tasks: [anActivatedTask] }),
    heartbeat: async (id) => byTask(id, { lockToken: "0.1.b.charge", lockedUntil: AT }),
    listing: async (definition) => byDefinition(definition, { definition, shards: 1 }),
    setListing: async (definition, { shards }) => byDefinition(definition, { definition, shards }),
    setTaskType: async (type, { queueArn }) => ({ type, queueArn, shards: 1 }),
    taskType: async (type) => ({ type, queueArn: null, shards: 1 }),
  };
}

function compile({ notation, source }: Source): void {
  if (notation !== "bpmn") throw engineError("definition/notation-unknown");
  if (source.includes("broken"))
    throw engineError("definition/invalid", [aDiagnostic, aDiagnostic]);
}
