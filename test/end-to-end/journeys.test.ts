import {
  GetScheduleCommand,
  ListSchedulesCommand,
  ResourceNotFoundException,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { describe, test } from "vitest";
import {
  aMessage,
  aSignal,
  boundary,
  catching,
  end,
  file,
  flow,
  onMessage,
  onSignal,
  race,
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
  needs,
  target,
  task,
  waiting,
} from "../support/deployed.ts";
import { output } from "../support/deployed-queues.ts";

const lasting = (id: string, duration: string) => catching(id, timer("timeDuration", duration));

describe.concurrent("a deployed workflow", () => {
  test("F67 runs its tasks one after the other, on the right runtime", async ({ expect }) => {
    const id = fresh("tasks");
    await client.deploy(chain(id, [task("reserve"), task("tell-runtime"), task("ship")]));

    const { instanceId } = await client.start(id, { variables: { order: 7 } });

    const { status, variables } = await ended(instanceId);
    expect(status).toBe("succeeded");
    expect(variables).toMatchObject({ order: 7, reserved: true, shipped: true });
    expect(variables.node).toMatch(/^v24\./);
    expect(variables.key).toMatch(instanceId);
  });

  test("F67 runs a task that may take minutes through the queue for long tasks", async ({
    expect,
  }) => {
    const id = fresh("long");
    await client.deploy(chain(id, [task("take-long")]));

    const { instanceId } = await client.start(id, { variables: { ms: 1_500 } });

    expect(await ended(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { took: 1_500 },
    });
  });

  test("F67 waits at a task without a handler, until it is completed from outside", async ({
    expect,
  }) => {
    const id = fresh("by-hand");
    await client.deploy(chain(id, [task("ask", fresh("nobody-runs-this")), task("ship")]));

    const { instanceId } = await client.start(id);
    const { taskId = "" } = await waiting(instanceId, "task");
    await client.completeTask(taskId, { variables: { answer: 42 } });

    expect(await ended(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { answer: 42, shipped: true },
    });
  });

  test("is started once by the same key, however often the start is repeated", async ({
    expect,
  }) => {
    const id = fresh("keyed");
    await client.deploy(chain(id, [task("ship")]));
    const idempotencyKey = fresh("key");

    const answers = await Promise.all(
      [1, 2, 3].map(() => client.start(id, { variables: { n: 1 } }, { idempotencyKey })),
    );

    expect(new Set(answers.map(({ instanceId }) => instanceId)).size).toBe(1);
    await ended(answers[0]?.instanceId ?? "");
    expect((await client.list({ definition: id })).items).toHaveLength(1);
  });

  test("keeps a value larger than an item of the table", async ({ expect }) => {
    const id = fresh("large");
    await client.deploy(chain(id, [task("write-much"), task("ship")]));

    const { instanceId } = await client.start(id, { variables: { length: 350_000 } });

    const { status, variables } = await ended(instanceId);
    expect(status).toBe("succeeded");
    expect(String(variables.text)).toHaveLength(350_000);
  });

  test("F21 fails when its deadline comes first", async ({ expect }) => {
    const id = fresh("deadline");
    await client.deploy(chain(id, [lasting("pause", "PT1H")]));

    const { instanceId } = await client.start(id, { deadline: "PT3S" });

    expect(await ended(instanceId)).toMatchObject({ status: "failed", terminationKind: "timeout" });
  });

  test("F7 is cancelled once, and no wait of it is left", async ({ expect }) => {
    const id = fresh("cancelled");
    const signal = fresh("never");
    const wait = race("first", catching("told", onSignal("s")), lasting("late", "PT1H"));
    await client.deploy(
      file(aProcess(id, start(), wait, flow("f1", "start", "first")), aSignal("s", signal)),
    );

    const { instanceId } = await client.start(id);
    await waiting(instanceId, "signal");
    const first = await client.cancel(instanceId, { reason: "changed my mind" });
    const second = await client.cancel(instanceId);

    expect([first, second]).toEqual([{ cancelled: true }, { cancelled: false }]);
    expect(await client.get(instanceId)).toMatchObject({ status: "cancelled", waits: [] });
    expect(await client.signal({ name: signal })).toMatchObject({ deliveredCount: 0 });
  });

  test("F68 stays live with an incident, and continues when it is resolved", async ({ expect }) => {
    const id = fresh("incident");
    await client.deploy(chain(id, [task("refuse", "refuse", "1"), task("ship")]));

    const { instanceId } = await client.start(id);
    const { incidentId = "" } = await waiting(instanceId, "incident");
    await client.resolveIncident(instanceId, incidentId, { variables: { allowed: true } });

    expect(await ended(instanceId)).toMatchObject({
      status: "succeeded",
      variables: { done: true },
    });
  });
});

describe.concurrent("a deployed timer", () => {
  test("F10 within the queue's delay fires when it is due, never before", async ({ expect }) => {
    const id = fresh("delay");
    await client.deploy(chain(id, [task("reserve"), lasting("pause", "PT3S"), task("ship")]));

    const { instanceId } = await client.start(id, { variables: { order: 1 } });
    const { dueAt = "" } = await waiting(instanceId, "timer");

    const { variables } = await ended(instanceId);
    expect(variables).toMatchObject({ order: 1, reserved: true, shipped: true });
    const fired = (await historyOf(instanceId)).find(({ type }) => type === "timer-due");
    expect(Date.parse(fired?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(dueAt));
  });

  test("F10 beyond the queue's delay fires when it is due, never before", async ({ expect }) => {
    const id = fresh("schedule");
    await client.deploy(chain(id, [lasting("pause", "PT28S"), task("ship")]));

    const { instanceId } = await client.start(id);
    const { dueAt = "" } = await waiting(instanceId, "timer");

    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    const fired = (await historyOf(instanceId)).filter(({ type }) => type === "timer-due");
    expect(fired).toHaveLength(1);
    expect(Date.parse(fired[0]?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(dueAt));
  });

  test("F13 that is disarmed leaves no schedule behind", async (context) => {
    needs("schedules", context);
    const { expect } = context;
    const id = fresh("unwanted");
    const type = fresh("nobody-runs-this");
    await client.deploy(withDeadline(id, type, "PT10M"));
    const { instanceId } = await client.start(id);
    const { taskId = "" } = await waiting(instanceId, "task");
    await eventually("its schedule", async () => (await schedulesOf(instanceId)) === 1);

    await client.completeTask(taskId);

    expect(await ended(instanceId)).toMatchObject({ variables: { onTime: true } });
    await eventually("its schedule to go", async () => (await schedulesOf(instanceId)) === 0);
  });

  test("F12 on a boundary cancels a locked task", async ({ expect }) => {
    const id = fresh("interrupted");
    const type = fresh("nobody-runs-this");
    await client.deploy(withDeadline(id, type, "PT3S"));

    const { instanceId } = await client.start(id);

    expect(await ended(instanceId)).toMatchObject({ variables: { onTime: false } });
    expect((await client.tasks({ type })).items).toEqual([]);
  });

  test("F14 F15 on a non-interrupting boundary fires as often as its cycle says", async ({
    expect,
  }) => {
    const id = fresh("reminders");
    const type = fresh("nobody-runs-this");
    await client.deploy(
      file(
        aProcess(
          id,
          start(),
          task("ask", type),
          boundary("each", "ask", timer("timeCycle", "R3/PT2S"), { cancelActivity: "false" }),
          task("remind", "ship"),
          end("reminded"),
          end(),
          flow("f1", "start", "ask"),
          flow("f2", "ask", "end"),
          flow("f3", "each", "remind"),
          flow("f4", "remind", "reminded"),
        ),
      ),
    );

    const { instanceId } = await client.start(id);
    await eventually(
      "three reminders",
      async () => (await countOf(instanceId, "element-completed", "reminded")) === 3,
    );
    const { taskId = "" } = await waiting(instanceId, "task");
    await client.completeTask(taskId);

    expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    expect(await countOf(instanceId, "timer-due")).toBe(3);
  });
});

describe.concurrent("a deployed message", () => {
  const mail = (id: string, name: string) =>
    chain(
      id,
      [catching("paid", onMessage("m")), task("ship")],
      aMessage("m", { name, key: "=order" }),
    );

  test("that comes early is kept, and taken by the next wait for it", async ({ expect }) => {
    const [id, name, correlationKey] = [fresh("early"), fresh("paid"), fresh("order")];
    await client.deploy(mail(id, name));

    const sent = await client.message({ name, correlationKey, payload: { amount: 5 } });
    const { instanceId } = await client.start(id, { variables: { order: correlationKey } });

    expect(sent.outcome).toBe("buffered");
    expect(await ended(instanceId)).toMatchObject({ variables: { amount: 5, shipped: true } });
  });

  test("F42 that comes late reaches only the wait with its key", async ({ expect }) => {
    const [id, name] = [fresh("late"), fresh("paid")];
    await client.deploy(mail(id, name));
    const mine = await client.start(id, { variables: { order: "mine" } });
    const yours = await client.start(id, { variables: { order: "yours" } });
    for (const { instanceId } of [mine, yours]) await waiting(instanceId, "message");

    const sent = await client.message({ name, correlationKey: "mine", payload: { amount: 5 } });
    const stray = client.message({ name, correlationKey: "nobody", timeToLive: "PT0S" });

    await expect(stray).rejects.toMatchObject({ status: 404 });
    expect(sent).toMatchObject({ outcome: "delivered", instanceId: mine.instanceId });
    expect(await ended(mine.instanceId)).toMatchObject({ variables: { amount: 5 } });
    expect(await client.get(yours.instanceId)).toMatchObject({ status: "suspended" });
    await client.cancel(yours.instanceId);
  });

  test("F43 F44 starts an instance if none waits for it, one each", async ({ expect }) => {
    const [id, name] = [fresh("begun"), fresh("ordered")];
    const begin = start("start", onMessage("m"));
    const content = [
      begin,
      task("ship"),
      end(),
      flow("f1", "start", "ship"),
      flow("f2", "ship", "end"),
    ];
    await client.deploy(file(aProcess(id, ...content), aMessage("m", { name })));

    const sent = [];
    for (const messageId of ["a", "b", "a"]) {
      sent.push(await client.message({ name, messageId, payload: { sentAs: messageId } }));
    }

    expect(sent.map(({ outcome }) => outcome)).toEqual(["started", "started", "duplicate"]);
    for (const { instanceId = "" } of sent.slice(0, 2)) {
      expect(await ended(instanceId)).toMatchObject({ status: "succeeded" });
    }
    expect((await client.list({ definition: id })).items).toHaveLength(2);
  });

  test("F45 F46 without a key, or with one that is taken, is an incident that says so", async ({
    expect,
  }) => {
    const [id, name] = [fresh("taken"), fresh("paid")];
    await client.deploy(mail(id, name));

    const keyless = await client.start(id);
    const first = await client.start(id, { variables: { order: "one" } });
    await waiting(first.instanceId, "message");
    const second = await client.start(id, { variables: { order: "one" } });

    for (const { instanceId } of [keyless, second]) {
      await waiting(instanceId, "incident");
      await client.cancel(instanceId);
    }
    await client.message({ name, correlationKey: "one" });
    expect(await ended(first.instanceId)).toMatchObject({ status: "succeeded" });
  });
});

describe.concurrent("a deployed race", () => {
  test("F54 is won by the first event, and by no other", async ({ expect }) => {
    const { begin, pay, tell } = await aRace();
    const [byMessage, bySignal] = [await begin("m", "PT1H"), await begin("s", "PT1H")];
    const byTimer = await begin("t", "PT2S");

    await pay("m");
    expect(await wonBy(byMessage)).toEqual(["paid-won"]);
    expect(await wonBy(byTimer)).toEqual(["late-won"]);
    expect(await tell()).toMatchObject({ deliveredCount: 1 });
    expect(await wonBy(bySignal)).toEqual(["told-won"]);
  });

  test("S2 has one winner of concurrent events", async ({ expect }) => {
    const { begin, pay, tell } = await aRace();
    const racers = await Promise.all([1, 2, 3, 4].map((n) => begin(`racer-${n}`, "PT2S")));

    await Promise.all([tell(), ...racers.map((_, n) => pay(`racer-${n + 1}`))]);

    for (const racer of racers) expect(await wonBy(racer)).toHaveLength(1);
  });
});

/** A signal, a message and a timer, of which the first wins; no other test uses these names. */
async function aRace() {
  const [id, signal, message] = [fresh("race"), fresh("stop"), fresh("paid")];
  const waits = race(
    "first",
    catching("told", onSignal("s")),
    catching("paid", onMessage("m")),
    lasting("late", "=within"),
  );
  const roots = [aSignal("s", signal), aMessage("m", { name: message, key: "=order" })];
  await client.deploy(file(aProcess(id, start(), waits, flow("f1", "start", "first")), ...roots));
  return {
    begin: async (order: string, within: string) => {
      const { instanceId } = await client.start(id, { variables: { order, within } });
      await waiting(instanceId, "message");
      return instanceId;
    },
    pay: (correlationKey: string) => client.message({ name: message, correlationKey }),
    tell: () => client.signal({ name: signal }),
  };
}

async function wonBy(instanceId: string): Promise<readonly string[]> {
  await ended(instanceId);
  const completed = (await historyOf(instanceId)).filter(
    ({ type }) => type === "element-completed",
  );
  return completed.map(({ element = "" }) => element).filter((element) => element.endsWith("-won"));
}

const scheduler = new SchedulerClient({ region: target.region });

/** How many one-shot schedules an instance has in the installation's group. */
async function schedulesOf(instanceId: string): Promise<number> {
  const GroupName = output("ScheduleGroupName");
  const { Schedules = [] } = await scheduler.send(new ListSchedulesCommand({ GroupName }));
  const inputs = await Promise.all(
    Schedules.map(async ({ Name }) => {
      const found = await scheduler.send(new GetScheduleCommand({ GroupName, Name })).catch(gone);
      return found?.Target?.Input ?? "";
    }),
  );
  return inputs.filter((input) => input.includes(instanceId)).length;
}

/** It fired between the list and the read. */
function gone(error: unknown): undefined {
  if (error instanceof ResourceNotFoundException) return undefined;
  throw error;
}

/** A task for a worker, with a boundary timer that cancels it. */
function withDeadline(id: string, type: string, within: string): string {
  const say = (name: string, value: string) =>
    xml(
      "endEvent",
      { id: name },
      xml(
        "extensionElements",
        {},
        xml("zeebe:ioMapping", {}, xml("zeebe:output", { source: value, target: "onTime" })),
      ),
    );
  return file(
    aProcess(
      id,
      start(),
      task("ask", type),
      boundary("deadline", "ask", timer("timeDuration", within)),
      say("done", "=true"),
      say("given-up", "=false"),
      flow("f1", "start", "ask"),
      flow("f2", "ask", "done"),
      flow("f3", "deadline", "given-up"),
    ),
  );
}
