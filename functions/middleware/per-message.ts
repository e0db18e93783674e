import type { Context, SQSRecord } from "aws-lambda";
import { type Ending, fateOf, MAX_TURNS, SOON_MS } from "../../lib/ports/fate.ts";
import type { Invocation, Verdict } from "../../lib/ports/message.ts";
import {
  afterFailure,
  answerBatch,
  type BatchFunction,
  deliveryOf,
  finishMessage,
  type Goes,
  howOf,
  isSuspect,
  logVerdict,
  type Queued,
  shuffled,
  type Workbench,
} from "./batch.ts";
import { invocationOf, msLeft } from "./invocations.ts";
import { parentTrace } from "./parent-trace.ts";
import { inTrace } from "./trace.ts";

/** Handles one message. */
export type MessageHandler = (message: Queued, invocation: Invocation) => Promise<Verdict>;

export type PerMessage = Readonly<{
  /** The function has the task handlers, and may run the next short task at once. */
  mayContinue?: boolean;
  /** Wraps the handling of a message, which may take so long; nothing by default. */
  during?: During;
}>;

type During = (record: SQSRecord, work: () => Promise<Ending>, forMs: number) => Promise<Ending>;

/**
 * Handles each message of a batch by itself, all at the same time. Those that were received too
 * often follow one after the other: if one of them crashes the function, the others are done.
 */
export function perMessage(
  handle: MessageHandler,
  bench: Workbench,
  { mayContinue = false, during = (_, work) => work() }: PerMessage = {},
): BatchFunction {
  return ({ Records: records }, context) => {
    // Where tasks run, a high receive count can be harmless: there was no room to run the task.
    const suspects = mayContinue ? [] : records.filter(isSuspect);
    const begin = (record: SQSRecord) =>
      inTrace(parentTrace(record), () => settleOne(record, context));
    const works = new Map(
      records.filter((it) => !suspects.includes(it)).map((it) => [it, begin(it)] as const),
    );
    let before: Promise<unknown> = Promise.all(works.values());
    for (const suspect of shuffled(suspects, (it) => it, bench)) {
      const work = before.then(() => begin(suspect));
      works.set(suspect, work);
      before = work;
    }
    const all = records.map((record) => works.get(record) ?? Promise.resolve(false));
    return answerBatch(records, all, context, bench);
  };

  async function settleOne(record: SQSRecord, context: Context): Promise<Goes> {
    try {
      const message = await bench.read(record.body);
      const how = howOf(record, message, bench);
      const invocation = { ...invocationOf(context, bench, mayContinue), ...how };
      const work = () => workOn(record, message, invocation);
      const ending = await during(record, work, msLeft(context));
      return await finishMessage(record, ending, bench);
    } catch (error) {
      return afterFailure(record, error, bench);
    }
  }

  async function workOn(
    record: SQSRecord,
    message: Queued,
    invocation: Invocation,
  ): Promise<Ending> {
    const startedAt = bench.clock.now();
    for (let turn = 1; ; turn++) {
      const verdict = await handle(message, invocation);
      const hasTime = bench.clock.now() + SOON_MS <= invocation.until;
      const delivery = { ...deliveryOf(record, bench), mayWait: turn < MAX_TURNS && hasTime };
      const fate = message.kind === "signal-requested" ? DONE : fateOf(message, verdict, delivery);
      if (fate.kind !== "again") {
        logVerdict(message, verdict, startedAt, bench);
        return fate;
      }
      await bench.clock.pause(fate.inMs);
    }
  }
}

const DONE = { kind: "done" } as const;
