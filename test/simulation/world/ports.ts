// The ports as a host sees them: a store and queues that hosts share; each call pauses at the gates
// of the world and gets the fault that the world has for it.

import { type BlobsPoint, SimulatedBlobs } from "../../../lib/adapters/simulated/blobs.ts";
import { type BusFault, type BusPoint, SimulatedBus } from "../../../lib/adapters/simulated/bus.ts";
import {
  type OwnQueueFault,
  type OwnQueuePoint,
  SimulatedOwnQueues,
} from "../../../lib/adapters/simulated/own-queues.ts";
import { SimulatedParking } from "../../../lib/adapters/simulated/parking.ts";
import type { SimulatedQueue } from "../../../lib/adapters/simulated/queue.ts";
import { SimulatedStore, type StoreFault } from "../../../lib/adapters/simulated/store.ts";
import { SimulatedTasks } from "../../../lib/adapters/simulated/tasks.ts";
import { SimulatedTimers } from "../../../lib/adapters/simulated/timers.ts";
import { SimulatedWorkQueue } from "../../../lib/adapters/simulated/work-queue.ts";
import { MAX_MS_FOR_PAGES } from "../../../lib/definition/limits.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { Bus } from "../../../lib/ports/bus.ts";
import type { Clock } from "../../../lib/ports/clock.ts";
import type { Message } from "../../../lib/ports/message.ts";
import type { Parking } from "../../../lib/ports/parking.ts";
import { type Timers, timerName } from "../../../lib/ports/timers.ts";
import type { Fault } from "../actors/actors.ts";
import { watchedHandler } from "../actors/watched-handler.ts";
import { stable } from "../checks/oracle.ts";
import { awsTimers } from "./aws-timers.ts";
import { SimulatedScheduler } from "./scheduler.ts";
import type { Stage } from "./stage.ts";

/** The services behind the ports, shared by all hosts of a world. */
export type Backends = Readonly<{
  store: SimulatedStore;
  parking: SimulatedParking;
  tasks: SimulatedTasks;
  timers: SimulatedTimers;
  scheduler: SimulatedScheduler;
  workQueue: SimulatedWorkQueue;
  bus: SimulatedBus;
  blobs: SimulatedBlobs;
  ownQueues: SimulatedOwnQueues;
}>;

/** The only user's own queue. */
export const OWN_QUEUE = "arn:aws:sqs:eu-west-1:123456789012:own";

const VISIBILITY_MS = 90_000;

/** An empty store and empty queues. */
export function createBackends(stage: Stage): Backends {
  const queue = { clock: stage.time, visibilityMs: VISIBILITY_MS };
  const handlers = Object.entries(stage.scenario.handlers);
  const workQueue = new SimulatedWorkQueue({ ...queue, turn: pagesTurn(stage) });
  const timers = new SimulatedTimers({ ...queue, turn: queueTurn(stage, "timers.arm") });
  const blobs = new SimulatedBlobs({ turn: (point) => blobsTurn(stage, point) });
  stage.blobOf = (name) => blobs.peek(name);
  const backends: Backends = {
    store: new SimulatedStore({ turn: (point) => storeTurn(stage, point) }),
    parking: new SimulatedParking({ ...queue, turn: queueTurn(stage, "parking.park") }),
    tasks: new SimulatedTasks({
      ...queue,
      turn: queueTurn(stage, "tasks.send"),
      handlers: new Map(handlers.map(([type, handler]) => [type, watchedHandler(stage, handler)])),
      knowsWhatItHolds: stage.mode === "memory",
    }),
    timers,
    scheduler: new SimulatedScheduler(stage, timers),
    workQueue,
    bus: new SimulatedBus({ work: workQueue, turn: (point) => busTurn(stage, point) }),
    blobs,
    ownQueues: new SimulatedOwnQueues({
      clock: stage.time,
      region: "eu-west-1",
      there: [OWN_QUEUE],
      turn: (point) => ownQueueTurn(stage, point),
    }),
  };
  stage.ownQueue = backends.ownQueues.queue(OWN_QUEUE);
  stage.queued = () =>
    queuesOf(backends).flatMap(([, queue]) => queue.all().map(({ message }) => message));
  return backends;
}

/** All queues, by name. */
export function queuesOf({
  tasks,
  timers,
  parking,
  workQueue,
}: Backends): readonly (readonly [string, SimulatedQueue<Message>])[] {
  return [
    ["tasks", widen(tasks)],
    ["timers", widen(timers)],
    ["parking", widen(parking)],
    ["pages", widen(workQueue)],
  ];
}

/** A queue that may drop what it already holds. */
export function parkingPort({ scenario }: Stage, parking: SimulatedParking): Parking {
  return {
    park: async (message) => {
      const isDouble = () =>
        parking.all().some((queued) => stable(queued.message) === stable(message));
      if (scenario.swallowsDoubles && isDouble()) return;
      await parking.park(message);
    },
  };
}

/**
 * Durable: as an installation on AWS arms them. In memory: the loop over the due index replaces the
 * timers that it will find, and what was delivered once is a trigger and stays.
 */
export function timersPort(stage: Stage, backends: Backends, clock: Pick<Clock, "now">): Timers {
  if (stage.mode === "durable") return awsTimers(stage, backends, clock);
  const { timers } = backends;
  return {
    arm: (timer) => (timer.covered ? Promise.resolve() : timers.arm(timer)),
    disarm: async (timer) => {
      const name = timerName(timer);
      timers.lose(({ message, receives }) => receives === 0 && timerName(message) === name);
    },
  };
}

/** Delivers broadcasts to the work queue, and records announcements, if there is a listener. */
export function busPort({ actors, announced, published, scenario }: Stage, bus: SimulatedBus): Bus {
  const announce: Bus["announce"] = async (announcement) => {
    await actors.stop("bus.announce", "before");
    announced.set(announcement.id, announcement.notice);
    await actors.stop("bus.announce", "after");
  };
  return {
    publish: async (broadcast) => {
      const isTaken = await bus.publish(broadcast);
      if (isTaken) published.add(broadcast.broadcastId);
      return isTaken;
    },
    ...(scenario.announces && { announce }),
  };
}

async function storeTurn(stage: Stage, point: string) {
  const [call = "", part = ""] = point.split(":");
  if (part === "half" && stage.mode === "memory") return undefined;
  const isOwn = part === "half" || part === "late";
  const fault = isOwn
    ? await stage.actors.stopStore(`store.${point}`)
    : await stage.actors.stop(`store.${call}`, part === "before" ? "before" : "after");
  if (call === "commit" || call === "tidy") stage.isDirty = true;
  if (call === "due" && fault?.fault === "stale") stage.hasIndexLagged = true;
  return fault && isStoreFault(fault) ? fault : undefined;
}

const isStoreFault = (fault: Fault): fault is StoreFault => STORE_FAULTS.has(fault.fault);
const STORE_FAULTS: ReadonlySet<Fault["fault"]> = new Set<StoreFault["fault"]>([
  "busy",
  "full",
  "unknown",
  "reversed",
  "stale",
  "lost",
]);

async function busTurn({ actors }: Stage, point: BusPoint): Promise<BusFault | undefined> {
  const [call = "", side = ""] = point.split(":");
  const fault = await actors.stop(`bus.${call}`, side === "before" ? "before" : "after");
  switch (fault?.fault) {
    case "refused":
    case "unanswered":
    case "duplicated":
    case "delayed":
      return fault as BusFault;
    case "busy":
    case "full":
    case "lost":
    case "never":
    case "reversed":
    case "stale":
    case "unknown":
    case undefined:
      return undefined;
  }
}

async function ownQueueTurn(
  { actors }: Stage,
  point: OwnQueuePoint,
): Promise<OwnQueueFault | undefined> {
  const fault = await actors.stop("own-queue.send", point === "send:before" ? "before" : "after");
  return fault && isOwnQueueFault(fault) ? fault : undefined;
}

const isOwnQueueFault = (fault: Fault): fault is OwnQueueFault => OWN_QUEUE_FAULTS.has(fault.fault);
const OWN_QUEUE_FAULTS: ReadonlySet<Fault["fault"]> = new Set<OwnQueueFault["fault"]>([
  "refused",
  "unanswered",
  "lost",
  "duplicated",
  "delayed",
]);

async function blobsTurn({ actors }: Stage, point: BlobsPoint) {
  const [call = "", side = ""] = point.split(":");
  const fault = await actors.stop(`blobs.${call}`, side === "before" ? "before" : "after");
  return fault?.fault === "refused" || fault?.fault === "unanswered" ? fault : undefined;
}

/** What the bus delivers has passed its gate: it does not pause twice. */
function pagesTurn(stage: Stage) {
  const turn = queueTurn(stage, "pages.send");
  return async (at: string, message: Message) =>
    message.kind === "broadcast" ? undefined : turn(at, message);
}

function queueTurn(stage: Stage, point: string) {
  return async (at: string, message: Message) => {
    if (at === "send:before") noteFacts(stage, message);
    const fault = await stage.actors.stop(point, at === "send:before" ? "before" : "after");
    return fault?.fault === "duplicated" || fault?.fault === "delayed" ? fault : undefined;
  };
}

/** What is broadcast or sent is known from the store and from the callers, not from the engine. */
const DERIVED: ReadonlySet<Fact["kind"]> = new Set<Fact["kind"]>([
  "signal-received",
  "message-received",
  "event-received",
  "event-sent",
]);

function noteFacts(stage: Stage, message: Message): void {
  const start = "start" in message ? message.start : undefined;
  if (start && "instanceId" in message && start.fact.input.trigger === undefined) {
    stage.brings(message.instanceId, start.fact);
  }
  if (message.kind === "parked" && message.fact.kind === "signal-received") {
    noteMissed(stage, message, message.fact.broadcastId);
  }
  if (message.kind === "parked" && message.fact.kind === "event-received") {
    noteMissed(stage, message, message.fact.eventId);
  }
  if (message.kind === "parked" && !DERIVED.has(message.fact.kind)) {
    stage.brings(message.instanceId, message.fact);
  }
}

/**
 * Only a wait that has waited long for its pages may take a broadcast by itself; clocks differ a
 * little.
 */
function noteMissed(
  stage: Stage,
  { instanceId, fact }: Extract<Message, { kind: "parked" }>,
  id: string,
): void {
  const at = stage.traffic.broadcasts.get(id)?.at ?? stage.now;
  const hasWaited = stage.now - at >= MAX_MS_FOR_PAGES - MAX_SKEW_MS;
  if (hasWaited && "ticket" in fact) stage.missed.add(`${instanceId} ${fact.ticket} ${id}`);
}

const MAX_SKEW_MS = 10_000;

/** Queues of different messages are handled alike: the same message goes in and out. */
function widen<M extends Message>(queue: SimulatedQueue<M>): SimulatedQueue<Message> {
  return queue as unknown as SimulatedQueue<Message>;
}
