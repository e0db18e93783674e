// The callers of the engine, and what its responses must satisfy.
import type { Json, Variables } from "../../../lib/definition/json.ts";
import type { Engine } from "../../../lib/engine/engine.ts";
import type { InstanceView, StartRequest } from "../../../lib/shapes/instances.ts";
import { isSame } from "../checks/oracle.ts";
import type { Answer, Call, Caller } from "../scenarios/scenario.ts";

export function starter(definition: string, instanceId: string): Caller {
  return {
    name: `starter of ${instanceId}`,
    calls: [start(definition, { instanceId }, mustStart)],
  };
}

/** Starts a workflow in code with nothing. */
export const codeStarter = (definition: string, instanceId: string): Caller => ({
  name: `starter of ${instanceId}`,
  calls: [startCode(definition, instanceId)],
});

export const startCode = (definition: string, instanceId: string): Call =>
  startWith({ isBare: true }, definition, { instanceId }, { judge: mustStart });

export const start = (
  definition: string,
  request: StartRequest,
  judge: (answer: Answer) => string | undefined,
  key?: string,
): Call => startWith({}, definition, request, { judge, key });

function startWith(
  bare: Readonly<{ isBare?: true }>,
  definition: string,
  request: StartRequest,
  { judge, key }: Readonly<{ judge: NonNullable<Call["judge"]>; key?: string | undefined }>,
): Call {
  return {
    name: `start ${definition}`,
    make: async ({ engine, brings }) => {
      const { variables = {}, instanceId } = request;
      brings(instanceId, { kind: "started", input: { variables, ...bare } });
      const view = await engine.start(definition, request, key);
      return { kind: "started", instanceId: view.instanceId };
    },
    judge,
  };
}

export const mustStart = (answer: Answer) =>
  answer.kind === "started" ? undefined : `the start was refused: ${JSON.stringify(answer)}`;
export const maybeTaken = (answer: Answer) =>
  answer.kind === "refused" && answer.code !== "instance/id-taken" ? answer.code : undefined;
export const mustBeReused = (answer: Answer) =>
  answer.kind === "refused" && answer.code === "request/key-reused"
    ? undefined
    : `another body under the same key got ${JSON.stringify(answer)}`;
const mustBeDone = (answer: Answer) =>
  answer.kind === "done" ? undefined : `what took effect was answered ${JSON.stringify(answer)}`;

export function canceller(instanceId: string, atMs: number): Caller {
  return {
    name: "canceller",
    calls: [
      {
        name: "cancel",
        atMs,
        make: async ({ engine, brings }) => {
          brings(instanceId, { kind: "cancel-requested", reason: "no more" });
          return cancelled(await engine.cancel(instanceId, { reason: "no more" }, "cancel"));
        },
        judge: (answer) =>
          answer.kind === "refused" && answer.code !== "instance/not-found"
            ? answer.code
            : undefined,
      },
    ],
  };
}

const cancelled = (answer: { cancelled: boolean }): Answer => ({
  kind: "done",
  note: String(answer.cancelled),
});

/** Reads history while it grows: never a gap, and never less than was there before. */
export function historian(instanceId: string, number: number): Caller {
  const read: Call = {
    name: "history",
    make: async ({ engine, committedEntries }) => {
      const least = committedEntries(instanceId);
      if (least === 0) return "again later";
      const { items } = await engine.history(instanceId, { limit: 200 });
      const isGapless = items.every(({ seq }, index) => seq === index + 1);
      const note = isGapless && items.length >= least ? "whole" : `${items.length} of ${least}`;
      return { kind: "done", note };
    },
    judge: (answer) =>
      answer.kind === "done" && answer.note === "whole"
        ? undefined
        : `history was read with a gap: ${JSON.stringify(answer)}`,
  };
  return { name: `historian ${number}`, calls: Array.from({ length: 6 }, () => read) };
}

/** Finds the task by its offer, completes it, and repeats the call. */
export function completer(type: string): Caller {
  let taskId = "";
  const complete = (
    variables: Variables,
    judge: (answer: Answer) => string | undefined,
    name: string,
  ): Call => ({
    name,
    make: async ({ engine, brings }) => {
      if (taskId === "" || name === "complete") {
        const { items } = await engine.tasks({ type }, { limit: 10 });
        taskId = items[0]?.taskId ?? taskId;
      }
      if (taskId === "") return "again later";
      const [instanceId = "", ...ticket] = taskId.split(".");
      brings(instanceId, { kind: "task-completed", ticket: ticket.join("."), variables });
      await engine.completeTask(taskId, { variables }, "complete");
      return { kind: "done" };
    },
    judge,
  });
  return {
    name: "completer",
    calls: [
      complete({ ok: true }, mustBeDone, "complete"),
      complete({ ok: true }, mustBeDone, "complete again"),
      complete({ ok: false }, mustBeReused, "complete otherwise"),
    ],
  };
}

/** Completes every task of this type that it finds, until the instance has ended. */
export function finisher(type: string, atMs: number): Caller {
  return {
    name: "finisher",
    calls: [
      {
        name: "finish",
        atMs,
        make: async ({ engine, brings }) => {
          const { items } = await engine.tasks({ type }, { limit: 10 });
          for (const { taskId } of items) {
            const [instanceId = "", ...ticket] = taskId.split(".");
            const variables = { ok: true };
            brings(instanceId, { kind: "task-completed", ticket: ticket.join("."), variables });
            await unlessGone(engine.completeTask(taskId, { variables }, `finish-${taskId}`));
          }
          return isOver("one", engine);
        },
      },
    ],
  };
}

/** Another caller was faster. */
async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (cause) {
    if (!/(task|incident)\/not-found/.test(String(cause))) throw cause;
  }
}

async function isOver(instanceId: string, engine: Engine): Promise<Answer | "again later"> {
  const { items } = await engine.list({ status: "succeeded" }, { limit: 10 });
  const isEnded = items.some((item) => item.instanceId === instanceId);
  return isEnded ? { kind: "done" } : "again later";
}

/** Reads an instance until `judge` finds an answer: nothing is wrong with it, or this is. */
export function auditor(
  instanceId: string,
  judge: (view: InstanceView) => "fine" | "again later" | Readonly<{ problem: string }>,
  atMs = 0,
): Caller {
  const audit: Call = {
    name: "audit",
    atMs,
    make: async ({ engine, committedEntries }) => {
      if (committedEntries(instanceId) === 0) return "again later";
      const judged = judge(await engine.get(instanceId));
      if (judged === "again later") return judged;
      return { kind: "done", ...(judged !== "fine" && { note: judged.problem }) };
    },
    judge: (answer) => (answer.kind === "done" ? answer.note : JSON.stringify(answer)),
  };
  return { name: `auditor of ${instanceId}`, calls: [audit] };
}

/** Once it has ended, the instance has this result. */
export function auditorOf(instanceId: string, wanted: Json, atMs: number): Caller {
  const judge = ({ status, result }: InstanceView) => {
    if (status === "running" || status === "suspended") return "again later";
    const isRight = status === "succeeded" && isSame(result, wanted);
    return isRight ? "fine" : { problem: `it ended as ${status} with ${JSON.stringify(result)}` };
  };
  return auditor(instanceId, judge, atMs);
}

/** Fails an offered task once, if it finds one before the instance has ended. */
export function failer(type: string, name: string): Caller {
  return {
    name,
    calls: [
      {
        name: "fail",
        make: async ({ engine, brings }) => {
          const { items } = await engine.tasks({ type }, { limit: 10 });
          const found = items[0];
          if (found === undefined) return isOver("one", engine);
          const [instanceId = "", ...ticket] = found.taskId.split(".");
          const message = `${name} could not`;
          for (const attempt of [1, 2, 3]) {
            brings(instanceId, {
              kind: "task-failed",
              ticket: ticket.join("."),
              attempt,
              message,
            });
          }
          await engine.failTask(found.taskId, { message }, `fail-${name}`);
          return { kind: "done" };
        },
      },
    ],
  };
}

/** Resolves every incident that it finds, until the instance has ended. */
export function resolver(
  instanceId: string,
  request: Readonly<{ retries: number; variables?: Variables }>,
  atMs = 0,
): Caller {
  return {
    name: "resolver",
    calls: [
      {
        name: "resolve",
        atMs,
        make: async ({ engine, brings, committedEntries }) => {
          if (committedEntries(instanceId) === 0) return "again later";
          const { incidents, status } = await engine.get(instanceId);
          for (const { incidentId: ticket } of incidents) {
            brings(instanceId, { kind: "incident-resolved", ticket, ...request });
            const key = `resolve-${ticket}`;
            await unlessGone(engine.resolveIncident(instanceId, ticket, request, key));
          }
          return status === "running" || status === "suspended" ? "again later" : { kind: "done" };
        },
      },
    ],
  };
}
