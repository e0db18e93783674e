import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { SignalRequest } from "../../lib/adapters/sqs/wire.ts";
import {
  MAX_DELIVERIES,
  MAX_DELIVERIES_OF_DEAD,
  MAX_DELIVERIES_TOGETHER,
} from "../../lib/definition/limits.ts";
import { type Alarm, processAlarm } from "../../lib/ports/alarm.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import { type Delivery, type Ending, MAX_HIDDEN_SECONDS } from "../../lib/ports/fate.ts";
import type { Ids } from "../../lib/ports/ids.ts";
import type { Invocation, Message, Verdict } from "../../lib/ports/message.ts";
import { aboutMessage } from "../../lib/ports/message-kinds.ts";
import { allWithin } from "./deadline.ts";
import { isHopeless, pauseAfterFailure } from "./failure.ts";
import { msLeft } from "./invocations.ts";
import type { SourceQueue } from "./source-queue.ts";
import type { Telemetry } from "./telemetry.ts";

/** What a queue may deliver: messages of the engine, and requests of other systems over the bus. */
export type Queued = Message | SignalRequest;

/** What every function that reads a queue needs. */
export type Workbench = Readonly<{
  /** The message of a body, wherever it is stored; throws where it is unreadable. */
  read(body: string): Promise<Queued>;
  queue: SourceQueue;
  clock: Clock;
  ids: Ids;
  telemetry: Telemetry;
  /** Real time; for tests. */
  alarm?: Alarm;
}>;

/** A function that reads a queue, as Lambda calls it. */
export type BatchFunction = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** Whether the queue may delete a message. */
export type Goes = boolean;

/** The response for a batch: it names the messages to deliver again, the rest is deleted. */
export async function answerBatch(
  records: readonly SQSRecord[],
  works: readonly Promise<Goes>[],
  context: Pick<Context, "getRemainingTimeInMillis">,
  { alarm = processAlarm }: Workbench,
): Promise<SQSBatchResponse> {
  const went = await allWithin(works, { ms: msLeft(context), otherwise: false, alarm });
  const staying = records.filter((_, n) => went[n] !== true);
  return { batchItemFailures: staying.map(({ messageId }) => ({ itemIdentifier: messageId })) };
}

/** Finishes a message by its ending. */
export async function finishMessage(
  record: SQSRecord,
  ending: Ending,
  { queue }: Pick<Workbench, "queue">,
): Promise<Goes> {
  switch (ending.kind) {
    case "done":
      return true;
    case "later":
      // The copy first: after a crash in between there are two, never none.
      await queue.sendLater(record, ending.inSeconds);
      return true;
    case "back":
      await queue.hide(record, ending.inSeconds);
      return false;
  }
}

/** How a record was delivered, and from what kind of queue. */
export function deliveryOf(
  { eventSourceARN, attributes }: SQSRecord,
  { queue }: Pick<Workbench, "queue">,
): Omit<Delivery, "mayWait"> {
  const receives = Number(attributes.ApproximateReceiveCount);
  if (queue.setAside === undefined) return { queue: "last", receives };
  return { queue: eventSourceARN.endsWith(".fifo") ? "in-order" : "standard", receives };
}

/** Whether a message was received so often that it may be the one that crashes the function. */
export const isSuspect = ({ attributes }: SQSRecord): boolean =>
  Number(attributes.ApproximateReceiveCount) > MAX_DELIVERIES_TOGETHER;

/** In another order each time: a message that crashes the function does not block the same ones. */
export function shuffled<T>(
  items: readonly T[],
  recordOf: (item: T) => SQSRecord,
  { ids }: Pick<Workbench, "ids">,
): readonly T[] {
  const placeOf = (item: T) => {
    const { messageId, attributes } = recordOf(item);
    return ids.digest(`${messageId} ${attributes.ApproximateReceiveCount}`);
  };
  const placed = items.map((item) => ({ item, place: placeOf(item) }));
  return placed.sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ item }) => item);
}

/**
 * How a message is passed to the engine: one that was received too often is to be set aside. A task
 * is not: as a dead letter it has failed, and is set aside only if its instance cannot take that
 * failure.
 */
export function howOf(
  record: SQSRecord,
  message: Queued,
  bench: Pick<Workbench, "queue" | "telemetry">,
): Pick<Invocation, "aside"> {
  const { queue, receives } = deliveryOf(record, bench);
  const isTask = message.kind === "task" && queue !== "last";
  if (isTask || receives <= (queue === "last" ? MAX_DELIVERIES_OF_DEAD : MAX_DELIVERIES)) return {};
  bench.telemetry.log("error", "message-poisoned", { ...aboutQueued(message), receives });
  if (queue !== "last") bench.telemetry.measure("GivenUp", 1);
  return { aside: `its message was delivered ${receives} times and never done with` };
}

/**
 * A message that failed is delivered again, unless it is itself at fault: then it is set aside at
 * once, or hidden for long where it is set aside already.
 */
export async function afterFailure(
  record: SQSRecord,
  error: unknown,
  { queue, telemetry }: Workbench,
): Promise<Goes> {
  const receives = Number(record.attributes.ApproximateReceiveCount);
  const about = { messageId: record.messageId, receives, error };
  try {
    if (isHopeless(error) && queue.setAside !== undefined) {
      await queue.setAside(record);
      telemetry.log("error", "message-set-aside", about);
      telemetry.measure("SetAside", 1);
      return true;
    }
    telemetry.log("error", "message-failed", about);
    telemetry.measure("Failures", 1);
    const seconds = isHopeless(error) ? MAX_HIDDEN_SECONDS : pauseAfterFailure(receives);
    if (seconds !== undefined) await queue.hide(record, seconds);
  } catch (cause) {
    telemetry.log("warn", "queue-unreachable", { messageId: record.messageId, error: cause });
  }
  return false;
}

/** Measures and logs a verdict: a kept message as info, a released one at debug level. */
export function logVerdict(
  message: Queued,
  verdict: Verdict,
  startedAt: number,
  { clock, telemetry }: Workbench,
): void {
  const ms = clock.now() - startedAt;
  telemetry.measure("StepLatency", ms);
  const about = { ...aboutQueued(message), ms };
  if (verdict === "release") telemetry.log("debug", "message-done", about);
  else {
    telemetry.measure("Kept", 1);
    telemetry.log("info", "message-kept", { ...about, keepForMs: verdict.keepForMs });
  }
}

/** What may be logged about a message: its target and name, never its content. */
export const aboutQueued = (message: Queued): Readonly<Record<string, unknown>> =>
  message.kind === "signal-requested"
    ? { kind: message.kind, name: message.name, eventId: message.id }
    : aboutMessage(message);
