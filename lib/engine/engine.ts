/**
 * The engine as a whole: the calls that it offers, and the use case behind every kind of message and
 * of entry. The calls are the same for HTTP, for the library and for tests, with the bodies and
 * answers that the API documents. What a caller did wrong is thrown as an EngineError whose code says
 * what; instants are ISO text, because every answer may leave as JSON.
 */

import type { StartRequest } from "../shapes/instances.ts";
import type { IdempotencyKey } from "../shapes/paging.ts";
import { cancelChild } from "./calls/cancel-child.ts";
import { notifyParent } from "./calls/notify-parent.ts";
import { startChild } from "./calls/start-child.ts";
import {
  getDefinition,
  listDefinitions,
  listVersions,
  readSource,
  switchState,
  viewLatest,
} from "./definitions/definitions.ts";
import { deploy, validate } from "./definitions/deploy.ts";
import { advance, advanceOne } from "./drive/advance.ts";
import { driveTask } from "./drive/drive.ts";
import { fireTimer } from "./drive/fire-timer.ts";
import { giveUp, receive } from "./drive/receive.ts";
import { sendLeft } from "./events/accept-event.ts";
import { bury, listDeadLetters, removeDeadLetter } from "./events/dead-letter.ts";
import { handleOffer } from "./events/offer-event.ts";
import { replayDeadLetter, sendEvent } from "./events/send-event.ts";
import { purge, resolveIncidents } from "./instances/bulk.ts";
import { erase } from "./instances/erase.ts";
import { paged, pagedBy } from "./instances/filter.ts";
import { readHistory } from "./instances/history.ts";
import { listIncidents } from "./instances/incidents.ts";
import {
  cancel,
  getInstance,
  getResult,
  listWaits,
  patchVariables,
  resolveIncident,
} from "./instances/instance-calls.ts";
import { listInstances } from "./instances/listing.ts";
import { getListing, setListing } from "./instances/listing-sources.ts";
import { withOrigins } from "./instances/origins.ts";
import { start } from "./instances/start.ts";
import { viewInstance } from "./instances/views.ts";
import { publishMessage } from "./messages/publish.ts";
import { handleWakeMailbox } from "./messages/wake-mailbox.ts";
import { cancelBatch, cancelItems, sendBatch, sendBatchPage } from "./multi-instance/batch.ts";
import { adopt } from "./recovery/adopt.ts";
import { recover, recoverAll } from "./recovery/recover.ts";
import { sweep } from "./recovery/sweep.ts";
import { wake } from "./recovery/wake.ts";
import { turnWheel } from "./recovery/wheel.ts";
import { getEventType, setEventType } from "./rows/event.ts";
import { getTaskType, setTaskType } from "./rows/task-type.ts";
import { deliverPage, fanOut, pageShard, watch } from "./signals/fan-out.ts";
import { recheckMissed, sendMissed } from "./signals/missed.ts";
import { readReceipt } from "./signals/receipt.ts";
import { signal } from "./signals/signal.ts";
import { fireStart } from "./timer-starts/fire.ts";
import { listSchedules, removeSchedule } from "./timer-starts/schedules.ts";
import { claimTask, unclaimTask } from "./user-tasks/claim-task.ts";
import { activate } from "./workers/activate.ts";
import { completeTask, extendLock, failTask, getTask, listTasks } from "./workers/task-calls.ts";
import type { Handlers, HostWorld, Senders, World } from "./world.ts";

const CALLS = {
  // What hosts call: hands over what woke them.

  /** One message; the verdict says whether it may go. */
  handle: receive,
  /** Does what is due at a stored item, and says how much that was; a due index wakes so. */
  wake,
  /** Messages parked for one instance, taken together in one step. */
  advance,
  /** Sends again what was lost, and says what it did. */
  recover,
  /** The same for a page of all live instances, as if every queue and every timer had been lost. */
  recoverAll,
  /** Looks at one slice of what is overdue and sends a message for each; goes on where it stopped. */
  sweep,
  /** Mass timers: queues what falls due in the next minutes; goes on where it stopped. */
  turnWheel,
  /** Sends the tasks that had no handler here when they were offered; says how many. */
  adopt,
  /** A message that came too often without being done with: its task fails, or what it owes is sent. */
  giveUp,

  // Definitions

  deploy,
  validate,
  definitions: paged("definitions", listDefinitions),
  definition: getDefinition,
  versions: pagedBy("versions", listVersions),
  source: readSource,
  enable: async (world: World, id: string) =>
    viewLatest(world, await switchState(world, id, "enabled")),
  disable: async (world: World, id: string) =>
    viewLatest(world, await switchState(world, id, "disabled")),
  undeploy: async (world: World, id: string) => {
    await switchState(world, id, "undeployed");
    return { undeployed: true };
  },
  /** Over how many shards the instances of a definition are listed; the number only grows. */
  listing: getListing,
  setListing,
  /** What begins by itself: start events by timer of the definitions that are deployed. */
  schedules: paged("schedules", listSchedules),
  /** Stops one of them until its definition is enabled or deployed anew. */
  removeSchedule,

  // Instances

  start: async (world: World, id: string, request: StartRequest = {}, key?: IdempotencyKey) =>
    viewInstance(world, await start(world, id, request, key)),
  get: async (world: World, instanceId: string) => {
    const image = await getInstance(world, instanceId);
    return withOrigins(world, image, viewInstance(world, image));
  },
  list: listInstances,
  /** Throws `instance/not-ended` while it is live. */
  result: getResult,
  waits: listWaits,
  history: pagedBy("history", readHistory),
  cancel,
  /** Removes what an ended instance knew; throws `instance/not-ended` while it is live. */
  erase,
  resolveIncident,
  /** Sets variables of a live instance, or of one open element of it; nothing moves on by it. */
  patchVariables,

  // Many at once: a page of them, and only told which unless `dryRun` is false

  /** Open incidents, those of the newest instances first. */
  incidents: listIncidents,
  /** Resolves a page of incidents, each by its own ticket. */
  resolveIncidents,
  /** Erases a page of ended instances. */
  purge,

  // Signals, messages, events

  /** Wakes every wait for the signal that is open now, and starts what begins by it. */
  signal,
  /** What became of a broadcast; throws `broadcast/not-found` where there is none. */
  receipt: readReceipt,
  message: publishMessage,
  event: sendEvent,
  /** Declares how events of this name behave, from the next one on. */
  setEventType,
  /** How events of this name behave, declared or not. */
  eventType: getEventType,
  deadLetters: pagedBy("dead-letters", listDeadLetters),
  /** Broadcasts a dead letter anew; it stays where no wait takes it. */
  replayDeadLetter,
  removeDeadLetter,

  // Tasks

  tasks: pagedBy("tasks", listTasks),
  /** One open task, with the text of its form where the definition has it. */
  task: getTask,
  /** Gives a task to a person; throws `task/claimed` where another has it. */
  claimTask,
  /** Gives it back; throws `task/claimed` where another has it. */
  unclaimTask,
  completeTask,
  failTask,
  /** Gives open tasks of a type to a worker, each under a lock. */
  activate,
  /** Keeps a lock; throws `task/lock-lost` where another worker has taken the task. */
  heartbeat: extendLock,
  /** Sends the tasks of a type to a queue of the user's own; null: back to those who poll. */
  setTaskType,
  taskType: getTaskType,
};

/** The calls of an engine on one world. */
export type Engine = { readonly [Name in keyof typeof CALLS]: OnWorld<(typeof CALLS)[Name]> };

type OnWorld<Call> = Call extends (world: World, ...args: infer Args) => infer Answer
  ? (...args: Args) => Answer
  : never;

/** Which use case handles a message. */
export const HANDLERS: Handlers = {
  task: driveTask,
  timer: fireTimer,
  "timer-start": fireStart,
  parked: advanceOne,
  look: advanceOne,
  owed: advanceOne,
  broadcast: fanOut,
  watch,
  shard: pageShard,
  page: deliverPage,
  missed: recheckMissed,
  members: sendBatchPage,
  "cancel-members": cancelItems,
  offer: handleOffer,
  poke: handleWakeMailbox,
};

/** Entries that leave by a use case of their own. */
const SENDERS: Senders = {
  startChild,
  cancelChild,
  notifyParent,
  sendBatch,
  cancelBatch,
  sendMissed,
  sendLeft,
  bury,
};

/** A host's world with what the engine brings itself. */
export const worldOf = (given: HostWorld): World => ({
  ...given,
  senders: SENDERS,
  handlers: HANDLERS,
});

/** An engine on this world. It holds nothing but caches: any number may share a store. */
export function createEngine(given: HostWorld): Engine {
  const world = worldOf(given);
  const calls = Object.entries(CALLS).map(([name, call]) => [
    name,
    (...args: unknown[]) => Reflect.apply(call, undefined, [world, ...args]),
  ]);
  return Object.fromEntries(calls) as Engine;
}
