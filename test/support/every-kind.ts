/**
 * Stores an item of every kind that the engine knows, by using it: instances at each kind of wait,
 * and the items around them. Its result is stored once per format, so that later code can be tested
 * with it.
 */
import type { Variables } from "../../lib/definition/json.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { EventConfig } from "../../lib/shapes/signals.ts";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  onMessage,
  onSignal,
  process,
  sequence,
  service,
  start,
  timer,
  xml,
} from "./bpmn-xml.ts";
import { storeNewerKinds } from "./every-newer-kind.ts";
import { KEEPER, storeOtherWaits } from "./every-wait.ts";
import { event, type Workflow } from "./generator-runner.ts";
import type { PlainWorld } from "./plain-world.ts";

/** User code; the workflows that wait for events are programs. */
export const TASKS: Readonly<Record<string, (input: Variables) => Variables>> = {
  add: ({ n }) => ({ n: Number(n ?? 0) + 1 }),
};
export const WORKFLOWS: ReadonlyMap<string, Workflow> = new Map([
  ["listener", waitsFor("paid")],
  ["reader", waitsFor("never")],
  ["keeper", KEEPER],
]);

/** Tasks in a row: long enough that history is moved out of the instance. */
export const CHAIN = 80;

/** Ids of the instances, each named after what it waits for. */
export const WAITING = {
  task: "at-task",
  engineTask: "at-engine-task",
  timer: "at-timer",
  signal: "at-signal",
  message: "at-message",
  event: "at-event",
  incident: "at-incident",
  staying: "at-staying",
} as const;

/** Leaves an item of every kind in the world's store. */
export async function storeEveryKind(world: PlainWorld): Promise<void> {
  const { engine, drain, queued } = world;
  await storeNewerKinds(world);
  await storeOtherWaits(world);
  await deployAll(engine);
  await startWaiting(engine, drain);
  await leaveTraffic(engine, drain);
  // Its task was sent and never run: the queue is lost with the host.
  await engine.start("chain", { instanceId: WAITING.engineTask, variables: { n: 40 } });
  queued.length = 0;
}

async function deployAll(engine: Engine): Promise<void> {
  const sources = [
    named("order", sequence(service("pick"))),
    named("chain", chainOf(CHAIN)),
    named("sleeper", sequence(catching("nap", timer("timeDuration", "PT1H")))),
    named(
      "approval",
      beside(sequence(catching("wait", onSignal("approved"))), aSignal("approved")),
    ),
    named(
      "paying",
      beside(
        sequence(catching("wait", onMessage("payment"))),
        aMessage("payment", { key: '="order-1"' }),
      ),
    ),
    named("broken", undecidable()),
    named("reminded", remindedTask()),
    named("by-signal", beside(begun(onSignal("opened")), aSignal("opened"))),
    named("by-message", beside(begun(onMessage("ordered")), aMessage("ordered"))),
  ];
  for (const source of sources) await engine.deploy({ notation: "bpmn", source });
  for (const name of ["listener", "reader"]) {
    await engine.deploy({ notation: "code", source: name });
  }
}

async function startWaiting(engine: Engine, drain: () => Promise<void>): Promise<void> {
  const variables = { orderId: "A-1", customer: { name: "Ada", since: 1815 } };
  await engine.start("order", {
    instanceId: WAITING.task,
    businessKey: "A-1",
    tags: ["express"],
    deadline: "P2D",
    variables,
  });
  await engine.start("sleeper", { instanceId: WAITING.timer, variables });
  await engine.start("approval", { instanceId: WAITING.signal, variables });
  await engine.start("paying", { instanceId: WAITING.message, variables });
  await engine.start("reader", { instanceId: WAITING.event, variables });
  await engine.start("broken", { instanceId: WAITING.incident, variables: { n: "not a number" } });
  await engine.start("reminded", { instanceId: WAITING.staying, variables });
  await engine.start("chain", { instanceId: "ended", variables: { n: 0 } });
  await engine.start("listener", { instanceId: "cut-short" });
  await drain();
}

async function leaveTraffic(engine: Engine, drain: () => Promise<void>): Promise<void> {
  await engine.signal({ name: "nudge", payload: { by: "me" }, id: "nudge-1" });
  await engine.signal({ name: "opened", payload: { n: 1 }, id: "opened-1" });
  await engine.message({ name: "ordered", correlationKey: "x", payload: {}, messageId: "m1" });
  await engine.message({
    name: "letter",
    correlationKey: "nobody",
    payload: { a: 1 },
    messageId: "m2",
    timeToLive: "P30D",
  });
  await engine.setEventType("news", { ...DECLARED, deliveryMode: "All" });
  await engine.event({ name: "news", payload: { n: 1 }, id: "news-1" });
  await engine.setEventType("last-words", {
    ...DECLARED,
    onTargetTerminated: "deadLetter",
  });
  await engine.event({ name: "last-words", target: "cut-short", payload: "unread", id: "words-1" });
  await engine.event({ name: "note", target: WAITING.event, payload: "unread", id: "note-1" });
  await drain();
  await engine.cancel("cut-short");
  await drain();
}

const DECLARED: EventConfig = {
  consumeOnRead: true,
  deliveryMode: "AfterWait",
  expireAfter: "P90D",
  onTargetTerminated: "discard",
};

function waitsFor(name: string): Workflow {
  return function* () {
    return yield event(name);
  };
}

/** Every source names its process `p`; each of these is deployed under its own name. */
const named = (id: string, source: string): string =>
  source.replace('<process id="p"', `<process id="${id}"`);

function chainOf(length: number): string {
  const ids = Array.from({ length }, (_, n) => `step-${n}`);
  return file(
    process(
      start(),
      ...ids.map((id) => xml("serviceTask", { id }, extensions(job("add")))),
      end(),
      ...["start", ...ids].map((id, n) => flow(`to-${n}`, id, ids[n] ?? "end")),
    ),
  );
}

const begun = (definition: string): string =>
  file(
    process(
      start("start", definition),
      service("pick"),
      end(),
      flow("a", "start", "pick"),
      flow("b", "pick", "end"),
    ),
  );

/** A non-interrupting boundary event stays open when its signal comes. */
function remindedTask(): string {
  return beside(
    file(
      process(
        start(),
        service("pick"),
        end(),
        boundary("nudged", "pick", onSignal("nudge"), { cancelActivity: "false" }),
        end("told"),
        flow("a", "start", "pick"),
        flow("b", "pick", "end"),
        flow("c", "nudged", "told"),
      ),
    ),
    aSignal("nudge"),
  );
}

/** A text is neither larger nor smaller than a number. */
function undecidable(): string {
  return file(
    process(
      start(),
      xml("exclusiveGateway", { id: "which" }),
      end(),
      flow("a", "start", "which"),
      flow("b", "which", "end", "=n > 1"),
    ),
  );
}
