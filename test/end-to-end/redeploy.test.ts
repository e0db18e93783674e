import { beforeAll, describe, expect, test } from "vitest";
import { type Deployment, deploySynthesised, synthesise } from "../../scripts/deployment/cdk.ts";
import { untilAnswers } from "../../scripts/deployment/until-answers.ts";
import {
  aMessage,
  aSignal,
  boundary,
  catching,
  end,
  flow,
  onMessage,
  onSignal,
  timer,
} from "../support/bpmn-xml.ts";
import {
  chain,
  client,
  ended,
  eventually,
  fresh,
  target,
  task,
  waiting,
} from "../support/deployed.ts";
import { PARKED_OUTSIDE, type Parked } from "../support/parked-outside.ts";
import { startsItself } from "../support/timer-starts.ts";

const signal = fresh("opened");
const message = fresh("paid");
const order = fresh("order");
const byHand = fresh("nobody-runs-this");
const lasting = (duration: string) => catching("pause", timer("timeDuration", duration));

const PARKED: readonly Parked[] = [
  ...PARKED_OUTSIDE,
  {
    waitsFor: "a timer in the queue",
    // One after the other, so that one of them is there at every moment.
    element: [
      task("ask", byHand),
      boundary("each", "ask", timer("timeCycle", "R/PT5S"), { cancelActivity: "false" }),
      task("look", "tell-release"),
      end("looked"),
      flow("each-to-look", "each", "look"),
      flow("look-to-looked", "look", "looked"),
    ].join("\n"),
    kind: "timer",
    wake: async (instanceId, release) => {
      await eventually(`a timer of release ${release}`, async () => {
        return (await client.get(instanceId)).variables.release === release;
      });
      await completeOf(instanceId);
    },
  },
  { waitsFor: "a timer beyond it", element: lasting("PT45S"), kind: "timer" },
  {
    waitsFor: "the next attempt of a task",
    element: task("again", "fail-then-work"),
    kind: "task",
  },
  {
    waitsFor: "a task for a worker",
    element: task("ask", byHand),
    kind: "task",
    wake: completeOf,
  },
  {
    waitsFor: "a signal",
    element: catching("told", onSignal("s")),
    beside: [aSignal("s", signal)],
    kind: "signal",
    wake: () => client.signal({ name: signal }),
  },
  {
    waitsFor: "a message",
    element: catching("paid", onMessage("m")),
    beside: [aMessage("m", { name: message, key: "=order" })],
    kind: "message",
    wake: () => client.message({ name: message, correlationKey: order }),
    variables: { order },
  },
  {
    waitsFor: "an incident to be resolved",
    element: task("refused", "refuse", "1"),
    kind: "incident",
    wake: async (instanceId) => {
      const { incidentId = "" } = await waiting(instanceId, "incident");
      await client.resolveIncident(instanceId, incidentId, { variables: { allowed: true } });
    },
  },
];

describe("a deployment that is changed while instances wait", () => {
  const parked = new Map<Parked, string>();
  let release = 0;

  beforeAll(async () => {
    const before = await releaseNow();
    release = before === 1 ? 2 : 1;
    await client.setEventType(LETTER, { onTargetTerminated: "deadLetter" });
    const change = changeTo(release);
    await synthesise(change);
    for (const one of PARKED) parked.set(one, await park(one));
    // One occurrence after the other, so that one of them is armed at every moment.
    await client.deploy(startsItself(byItself, { timeCycle: "R/PT10S" }, { type: "tell-release" }));
    await deploySynthesised(change);
    await untilAnswers(client);
  });

  test("runs its new code", async () => {
    expect(await releaseNow()).toBe(release);
  });

  test.for(PARKED)("continues an instance that waits for $waitsFor", async (one) => {
    const instanceId = parked.get(one) ?? "";

    await one.wake?.(instanceId, release);

    expect(await ended(instanceId)).toMatchObject({ status: "succeeded", variables: { release } });
    // The letter leaves after the commit that ends the instance.
    const letters = await eventually("the dead letter of an ended instance", async () => {
      const { items } = await client.deadLetters({ name: LETTER });
      const its = items.filter((letter) => letter.target === instanceId);
      return its.length > 0 && its;
    });
    expect(letters).toHaveLength(1);
  });

  test("F16 continues timer starts at the instants that were armed before", async () => {
    const begun = await eventually("an instance of the new release", async () => {
      const { items } = await client.list({ definition: byItself, status: "succeeded", limit: 50 });
      return items.some(({ variables }) => variables.release === release) && items;
    });
    await client.undeploy(byItself);

    const instants = begun.map(({ startedAt }) => Date.parse(startedAt)).sort((a, b) => a - b);
    const gaps = instants.slice(1).map((at, n) => (at - (instants[n] ?? 0)) % 10_000);
    expect(gaps.every((gap) => gap === 0)).toBe(true);
    expect(new Set(instants).size).toBe(instants.length);
  });
});

/** A definition with a timer start, before the change and after it. */
const byItself = fresh("by-itself");

/**
 * An event that is sent to each of them and that none of them reads: it must survive the change,
 * too.
 */
const LETTER = fresh("letter");

async function park(one: Parked): Promise<string> {
  const { element, beside = [], kind, variables } = one;
  const id = fresh("parked");
  await one.before?.();
  await client.deploy(chain(id, [element, task("tell-release")], ...beside));
  const { instanceId } = await client.start(id, variables === undefined ? {} : { variables });
  await waiting(instanceId, kind);
  await one.begin?.(instanceId);
  await client.event({ name: LETTER, target: instanceId, payload: instanceId });
  return instanceId;
}

/** Which release of the handlers runs. */
async function releaseNow(): Promise<number> {
  const id = fresh("release");
  await client.deploy(chain(id, [task("tell-release")]));
  const { instanceId } = await client.start(id);
  return Number((await ended(instanceId)).variables.release);
}

/** The same deployment with another release of the handlers. */
function changeTo(to: number): Deployment {
  const { endpoint, region, folder, context } = target;
  const tasks = (context.tasks ?? "").replace(/release-\d/, `release-${to}`);
  const place = { region, environment: process.env, ...(endpoint !== undefined && { endpoint }) };
  return { place, context: { ...context, tasks }, folder };
}

async function completeOf(instanceId: string): Promise<void> {
  const wait = await eventually("its task", async () => {
    const { items } = await client.waits(instanceId);
    return items.find(({ taskType }) => taskType === byHand);
  });
  await client.completeTask(wait.taskId ?? "");
}
