import { describe, type TestContext, test } from "vitest";
import {
  type ActivatedTask,
  BusinessError,
  type Work,
  type Worker,
  worker,
} from "../../lib/client/index.ts";
import {
  boundary,
  end,
  extensions,
  file,
  flow,
  ioMapping,
  job,
  loop,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import {
  aProcess,
  chain,
  client,
  countOf,
  ended,
  eventually,
  fresh,
  historyOf,
  task,
  waiting,
} from "../support/deployed.ts";

const poll = (type: string, who: string, lockSeconds = 120) =>
  client.activate({ type, max: 10, lockSeconds, worker: who });

/** The task that a worker gets by polling until there is one. */
const taken = (type: string, who: string, lockSeconds?: number): Promise<ActivatedTask> =>
  eventually(`a ${type} for ${who}`, async () => (await poll(type, who, lockSeconds)).tasks[0]);

describe.concurrent("a deployed task for workers", () => {
  test("F67 is taken over when its worker dies, which is refused when it reports late", async ({
    expect,
  }) => {
    const [id, type] = [fresh("taken-over"), fresh("charge")];
    await client.deploy(chain(id, [task("charge", type)]));
    const { instanceId } = await client.start(id, { variables: { total: 42 } });

    const dead = await taken(type, "anna", 3);
    const tooEarly = await poll(type, "bert");
    const alive = await taken(type, "bert");
    const late = (how: "completeTask" | "heartbeat") =>
      client[how](dead.taskId, { lockToken: dead.lockToken });

    expect(tooEarly.tasks).toEqual([]);
    expect(alive).toMatchObject({
      taskId: dead.taskId,
      idempotencyKey: dead.idempotencyKey,
      variables: { total: 42 },
      attempt: 1,
      retries: 3,
    });
    await expect(late("completeTask")).rejects.toMatchObject({
      status: 409,
      code: "task/lock-lost",
    });
    await expect(late("heartbeat")).rejects.toMatchObject({ status: 409, code: "task/lock-lost" });
    await client.completeTask(alive.taskId, {
      lockToken: alive.lockToken,
      variables: { paid: true },
    });
    expect(await ended(instanceId)).toMatchObject({ variables: { total: 42, paid: true } });
    await expect(late("completeTask")).rejects.toMatchObject({
      status: 404,
      code: "task/not-found",
    });
    expect(await late("heartbeat")).toEqual({ cancelled: true });
    expect(await countOf(instanceId, "task-completed")).toBe(1);
  });

  test("F67 stays with a worker that sends heartbeats, until a timer interrupts it", async ({
    expect,
  }) => {
    const [id, type] = [fresh("interrupted"), fresh("charge")];
    await client.deploy(
      file(
        aProcess(
          id,
          start(),
          task("charge", type),
          boundary("late", "charge", timer("timeDuration", "PT8S")),
          end(),
          end("given-up"),
          flow("f1", "start", "charge"),
          flow("f2", "charge", "end"),
          flow("f3", "late", "given-up"),
        ),
      ),
    );
    const { instanceId } = await client.start(id);
    const { taskId, lockToken } = await taken(type, "anna", 2);

    const kept = await client.heartbeat(taskId, { lockToken, lockSeconds: 120 });
    const newToken = "lockToken" in kept ? kept.lockToken : "";
    const withTheOld = client.heartbeat(taskId, { lockToken });
    await expect(withTheOld).rejects.toMatchObject({ status: 409, code: "task/lock-lost" });
    await ended(instanceId);

    expect(Date.parse("lockedUntil" in kept ? kept.lockedUntil : "")).toBeGreaterThan(Date.now());
    expect(await client.heartbeat(taskId, { lockToken: newToken })).toEqual({ cancelled: true });
    expect((await client.get(instanceId)).completedElements).toContain("given-up");
    const completion = client.completeTask(taskId, { lockToken: newToken });
    await expect(completion).rejects.toMatchObject({ status: 404, code: "task/not-found" });
    expect((await poll(type, "bert")).tasks).toEqual([]);
  });

  test("F67, F68 that fails is offered again when it is due, and then becomes an incident", async ({
    expect,
  }) => {
    const [id, type] = [fresh("failing"), fresh("charge")];
    await client.deploy(chain(id, [task("charge", type, "2")]));
    const { instanceId } = await client.start(id);
    const first = await taken(type, "anna");

    const failure = { lockToken: first.lockToken, message: "no answer", retryAfter: "PT3S" };
    await client.failTask(first.taskId, failure, { idempotencyKey: "once" });
    await client.failTask(first.taskId, failure, { idempotencyKey: "once" });
    const second = await taken(type, "bert");
    const secondAt = Date.now();
    await client.failTask(second.taskId, { lockToken: second.lockToken, message: "still none" });
    const { incidentId = "" } = await waiting(instanceId, "incident");
    const nobody = await poll(type, "anna");
    await client.resolveIncident(instanceId, incidentId, { retries: 1 });
    const third = await taken(type, "anna");
    await client.completeTask(third.taskId, { lockToken: third.lockToken });

    expect([first, second].map(({ attempt, retries }) => [attempt, retries])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(second.idempotencyKey).toBe(first.idempotencyKey);
    expect(nobody.tasks).toEqual([]);
    expect(third.retries).toBe(1);
    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    const failures = (await historyOf(instanceId)).filter((entry) => entry.type === "task-failed");
    expect(failures).toHaveLength(2);
    expect(secondAt).toBeGreaterThanOrEqual(Date.parse(failures[0]?.at ?? "") + 3_000);
  });

  test("F67 that fails with a code is caught by that code, with its variables", async ({
    expect,
  }) => {
    const [id, type] = [fresh("declined"), fresh("charge")];
    await client.deploy(caughtBy(id, type, "DECLINED"));
    const { instanceId } = await client.start(id);
    const { taskId, lockToken } = await taken(type, "anna");

    const failure = { code: "DECLINED", message: "no money", variables: { missing: 7 } };
    await client.failTask(taskId, { lockToken, ...failure });

    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    const { completedElements, variables } = await client.get(instanceId);
    expect(completedElements).toContain("declined");
    expect(variables).toMatchObject({ missing: 7 });
  });
});

describe.concurrent("a worker of the library, at a deployment,", () => {
  test("F67 finishes its tasks when it is stopped, and takes no more", async (context) => {
    const { expect } = context;
    const [id, type] = [fresh("stopped"), fresh("charge")];
    await client.deploy(chain(id, [task("charge", type)]));
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const work: Work = async ({ instanceId }) => {
      begun.push(instanceId);
      await gate.promise;
      return { paid: true };
    };
    const hired = hire(context, type, work, { concurrency: 2, lockSeconds: 9 });
    const instances = await Promise.all([1, 2].map(() => begin(id)));
    await eventually("both to be at work", async () => begun.length === 2);
    const later = await begin(id);

    const stopping = hired.stop({ graceMs: 240_000 });
    // Locks of ten seconds that expire one after the other: those of the worker would have, too,
    // without the heartbeats of what it still has to finish.
    const others = [await taken(type, "thief", 10), await taken(type, "thief", 10)];
    gate.resolve();
    await stopping;

    expect(hired.busy).toBe(0);
    expect(begun.toSorted()).toEqual(instances.toSorted());
    expect(others.map(({ instanceId }) => instanceId)).toEqual([later, later]);
    for (const instanceId of instances) {
      expect(await ended(instanceId)).toMatchObject({ variables: { paid: true } });
    }
    await client.cancel(later);
  });

  test("F67 reports a business error, and learns from its signal that a task was cancelled", async (context) => {
    const { expect } = context;
    const [id, type] = [fresh("reported"), fresh("charge")];
    await client.deploy(caughtBy(id, type, "DECLINED"));
    const [begun, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const told = Promise.withResolvers<boolean>();
    const work: Work = async ({ variables }, { signal, heartbeat }) => {
      if (variables.declined) throw new BusinessError("DECLINED", "no money", { missing: 7 });
      begun.resolve();
      await cancelled.promise;
      await heartbeat();
      told.resolve(signal.aborted);
    };
    const hired = hire(context, type, work);

    const declined = await begin(id, { declined: true });
    const refused = await ended(declined);
    const unneeded = await begin(id);
    await begun.promise;
    await client.cancel(unneeded);
    cancelled.resolve();

    expect(refused).toMatchObject({ status: "succeeded", variables: { missing: 7 } });
    expect(await told.promise).toBe(true);
    await hired.stop();
    expect(await countOf(unneeded, "task-completed")).toBe(0);
  });
});

describe("many workers of a deployment", () => {
  const ALONE = 60;
  const TOGETHER = 40;
  const WORKERS = 20;

  test(`F67 complete ${ALONE + TOGETHER} tasks, ${WORKERS} workers at once, each task once`, async (context) => {
    const { expect } = context;
    const [one, many, type] = [fresh("one"), fresh("many"), fresh("charge")];
    await client.deploy(chain(one, [task("charge", type)]));
    await client.deploy(looping(many, type, TOGETHER));
    const doneBy = new Map<string, Set<number>>();
    const workOf = (who: number) => (given: Parameters<Work>[0]) => {
      doneBy.set(given.taskId, (doneBy.get(given.taskId) ?? new Set()).add(who));
      return { doneAs: given.taskId };
    };

    const crew = Array.from({ length: WORKERS }, (_, who) =>
      hire(context, type, workOf(who), { concurrency: 2 }),
    );
    const family = await begin(many);
    const alone: string[] = [];
    for (let n = 0; n < ALONE; n++) alone.push(await begin(one));
    for (const instanceId of [family, ...alone]) await ended(instanceId);
    await Promise.all(crew.map((hired) => hired.stop()));

    expect(doneBy.size).toBe(ALONE + TOGETHER);
    expect(new Set([...doneBy.values()].flatMap((who) => [...who])).size).toBeGreaterThan(1);
    for (const instanceId of alone) {
      expect(String((await client.get(instanceId)).variables.doneAs)).toMatch(instanceId);
      expect(await countOf(instanceId, "task-completed")).toBe(1);
    }
    const { variables } = await client.get(family);
    expect(variables.results).toEqual(Array.from({ length: TOGETHER }, (_, n) => 2 * (n + 1)));
    expect((await client.tasks({ type })).items).toEqual([]);
  });
});

/** A worker that is stopped when its test ends. */
function hire(
  { onTestFinished }: TestContext,
  type: string,
  work: Work,
  more: Partial<Parameters<typeof worker>[2]> = {},
): Worker {
  const hired = worker(type, work, { client, pollSeconds: 1, ...more });
  onTestFinished(() => hired.stop({ graceMs: 0 }));
  return hired;
}

async function begin(id: string, variables: Record<string, boolean> = {}): Promise<string> {
  const instanceId = fresh("i");
  await eventually("a start", () => client.start(id, { instanceId, variables }));
  return instanceId;
}

/** A task whose error with that code is caught, and that ends either way. */
function caughtBy(id: string, type: string, code: string): string {
  return file(
    aProcess(
      id,
      start(),
      task("charge", type),
      xml(
        "boundaryEvent",
        { id: "declined", attachedToRef: "charge" },
        extensions(ioMapping(xml("zeebe:output", { source: "=missing", target: "missing" }))),
        xml("errorEventDefinition", { errorRef: "error" }),
      ),
      end(),
      end("refused"),
      flow("f1", "start", "charge"),
      flow("f2", "charge", "end"),
      flow("f3", "declined", "refused"),
    ),
    xml("error", { id: "error", errorCode: code }),
  );
}

/** This many tasks under one ticket. */
const looping = (id: string, type: string, count: number) =>
  chain(id, [
    xml(
      "serviceTask",
      { id: "each" },
      extensions(job(type)),
      loop({
        inputCollection: `=for i in 1..${count} return i`,
        inputElement: "n",
        outputCollection: "results",
        outputElement: "=n * 2",
      }),
    ),
  ]);
