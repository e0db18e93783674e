/**
 * An installation as it would be deployed, in memory and on a clock that only this program moves:
 * the deployed engine on a store, queues, timers and a bus that record their charges.
 */

import { feelExpressions } from "../adapters/feelin/feel-expressions.ts";
import { nodeIds } from "../adapters/node/ids.ts";
import { SimulatedBlobs } from "../adapters/simulated/blobs.ts";
import { SimulatedTime } from "../adapters/simulated/clock.ts";
import { instantFrom } from "../definition/time/instant.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { MANY_PROCESSES } from "../engine/world.ts";
import { bpmnCompiler } from "../frontends/bpmn/compiler.ts";
import { graphRunner } from "../kernel/graph/graph-runner.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock } from "../ports/clock.ts";
import { type Ending, fateOf, MAX_TURNS } from "../ports/fate.ts";
import type { Invocation, Verdict } from "../ports/message.ts";
import { isParked } from "../ports/message-kinds.ts";
import type { Store } from "../ports/store.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import { type FunctionName, KEPT_DAYS } from "./assumptions.ts";
import type { Ledger } from "./ledger.ts";
import { BilledQueues, type Queued, type QueueName } from "./queues.ts";
import { BilledTimers } from "./timers.ts";

/** Inline: a function continues with the next task by itself. Queued: every task is a message. */
export type Mode = "inline" | "queued";

export type InstallationOptions = Readonly<{
  ledger: Ledger;
  /** A store that reports its usage to the ledger. */
  store: Store;
  mode: Mode;
  /** Types without a handler get one that completes at once. */
  handlers: ReadonlyMap<string, TaskHandler>;
}>;

export type Installation = Readonly<{
  engine: Engine;
  /** Delivers until nothing is ready, or up to this many messages; returns how many. */
  settle(atMost: number): Promise<number>;
  /** Advances time to the next event; false: there is none. */
  passTime(): boolean;
  /** A call over the HTTP API. */
  call<T>(work: () => Promise<T>): Promise<T>;
}>;

export function openInstallation(options: InstallationOptions): Installation {
  const { ledger, store, mode, handlers } = options;
  const time = new SimulatedTime(instantFrom(BEGIN));
  const clock: Clock = { now: () => time.now(), pause: async (ms) => ledger.pause(ms) };
  const queues = new BilledQueues(ledger, clock);
  const timers = new BilledTimers(ledger, clock, queues);
  const expressions = feelExpressions();
  const engine = createEngine({
    store,
    parking: { park: (message) => queues.send("steps", message) },
    tasks: {
      send: (message) => queues.send("tasks", message, (message.notBefore ?? 0) - clock.now()),
      handlerOf: (type) => timed(handlers.get(type) ?? COMPLETES, ledger),
      types: () => [...handlers.keys()],
      holds: () => false,
      stop: () => {},
    },
    timers,
    bus: {
      publish: async ({ tenant, broadcastId }) => {
        ledger.take("publish");
        ledger.spend({ of: "eventbridge", events: 1 });
        queues.accept("work", { kind: "broadcast", tenant, broadcastId });
        return true;
      },
    },
    workQueue: { send: (message, afterMs) => queues.send("work", message, afterMs) },
    blobs: meteredBlobs(new SimulatedBlobs(), ledger),
    clock,
    ids: nodeIds(),
    expressions,
    compilers: { bpmn: bpmnCompiler({ expressions }) },
    runners: { graph: graphRunner },
    settings: { tenant: "default", retentionMs: KEPT_DAYS * 86_400_000, host: MANY_PROCESSES },
  });
  const host: Host = { engine, ledger, queues, time, mode };
  return {
    engine,
    settle: (atMost) => settle(host, atMost),
    passTime: () => passTime(host, timers),
    call: (work) => {
      ledger.spend({ of: "http-api", requests: 1 }, "door");
      return ledger.invoke("http-api", work);
    },
  };
}

type Host = Readonly<{
  engine: Engine;
  ledger: Ledger;
  queues: BilledQueues;
  time: SimulatedTime;
  mode: Mode;
}>;

/** 2026-01-01T00:00:00Z: figures must not depend on the date of the run. */
const BEGIN = 1_767_225_600_000;

/** How long an invocation may take; long enough to run the next task as well. */
const INVOCATION_MS = 60_000;

const FUNCTION_OF = {
  tasks: "run-task",
  timers: "fire-timer",
  work: "run-work",
  steps: "advance",
} as const satisfies Record<QueueName, FunctionName>;

const COMPLETES: TaskHandler = {
  timeoutMs: 30_000,
  isolate: false,
  exclusive: false,
  run: async () => ({ kind: "completed", variables: {} }),
};

function timed(handler: TaskHandler, ledger: Ledger): TaskHandler {
  return {
    ...handler,
    run: (input, about) => {
      ledger.take("handler");
      return handler.run(input, about);
    },
  };
}

function meteredBlobs(blobs: Blobs, ledger: Ledger): Blobs {
  return {
    put: async (name, bytes) => {
      ledger.take("putBlob");
      ledger.spend({ of: "s3-put", requests: 1, bytes: bytes.byteLength });
      await blobs.put(name, bytes);
    },
    get: async (name) => {
      const bytes = await blobs.get(name);
      ledger.take("getBlob");
      ledger.spend({ of: "s3-get", requests: 1, bytes: bytes?.byteLength ?? 0 });
      return bytes;
    },
    // Deleting costs nothing.
    remove: (name) => blobs.remove(name),
    // A copy onto itself, with a tag.
    expire: async (name) => {
      ledger.take("putBlob");
      ledger.spend({ of: "s3-put", requests: 1, bytes: 0 });
      await blobs.expire(name);
    },
  };
}

async function settle(host: Host, atMost: number): Promise<number> {
  for (let delivered = 0; delivered < atMost; delivered++) {
    const batch = host.queues.receive();
    const [first] = batch;
    if (first === undefined) return delivered;
    await host.ledger.invoke(FUNCTION_OF[first.queue], () => deliver(host, first, batch));
  }
  return atMost;
}

/** Kept messages are received again; released ones are deleted in one request. */
async function deliver(host: Host, { queue }: Queued, batch: readonly Queued[]): Promise<void> {
  const invocation = invocationOf(host, queue);
  let isGoing = false;
  let open = batch;
  for (let turn = 1; open.length > 0; turn++) {
    const verdicts = await verdictsOn(host, open, invocation);
    const waiting: Queued[] = [];
    let inMs = 0;
    for (const [n, queued] of open.entries()) {
      const fate = fateOf(queued.message, verdicts[n] ?? "release", {
        queue: queue === "steps" ? "in-order" : "standard",
        receives: queued.receives,
        mayWait: turn < MAX_TURNS,
      });
      if (fate.kind === "again") {
        waiting.push(queued);
        inMs = Math.max(inMs, fate.inMs);
      } else isGoing = seeOff(host, queued, fate) || isGoing;
    }
    if (waiting.length > 0) pause(host, inMs);
    open = waiting;
  }
  if (isGoing) host.queues.delete(queue);
}

function invocationOf({ time, mode }: Host, queue: QueueName): Invocation {
  return {
    id: crypto.randomUUID(),
    until: instantFrom(time.now() + INVOCATION_MS),
    mayContinue: mode === "inline" && queue === "tasks",
  };
}

async function verdictsOn(
  { engine }: Host,
  batch: readonly Queued[],
  invocation: Invocation,
): Promise<readonly Verdict[]> {
  const [first] = batch;
  if (first === undefined) return [];
  const parked = batch.flatMap(({ message }) => (isParked(message) ? [message] : []));
  if (first.queue === "steps") return engine.advance(parked, invocation);
  return [await engine.handle(first.message, invocation)];
}

function pause({ ledger, time }: Host, ms: number): void {
  ledger.pause(ms);
  time.pass(ms);
}

/**
 * True: the message may be deleted. A message that has to wait in order does so in the timer queue.
 */
function seeOff({ queues, ledger }: Host, queued: Queued, ending: Ending): boolean {
  switch (ending.kind) {
    case "done":
      return true;
    case "later": {
      ledger.take("send");
      const to = queued.queue === "steps" ? "timers" : queued.queue;
      queues.accept(to, queued.message, ending.inSeconds * 1_000);
      return true;
    }
    case "back":
      queues.hide(queued, ending.inSeconds * 1_000);
      return false;
  }
}

function passTime({ queues, time }: Host, timers: BilledTimers): boolean {
  const instants = [queues.nextAt(), timers.nextAt()].filter((at) => at !== undefined);
  if (instants.length === 0) return false;
  time.pass(Math.max(0, Math.min(...instants) - time.now()));
  timers.fire();
  return true;
}
