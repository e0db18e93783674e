import type { Context, SQSRecord } from "aws-lambda";
import type { Invocation, Verdict } from "../../lib/ports/message.ts";
import {
  afterFailure,
  answerBatch,
  type BatchFunction,
  type Goes,
  type Queued,
  tellVerdict,
  type Workbench,
} from "./batch.ts";
import { fateOf } from "./fate.ts";
import { invocationOf } from "./invocations.ts";
import { parentTrace } from "./parent-trace.ts";
import { inTrace } from "./trace.ts";

/** What one function does with one message. */
export type MessageHandler = (message: Queued, invocation: Invocation) => Promise<Verdict>;

export type PerMessage = Readonly<{
  /** The function has the task handlers, and may run the next short task at once. */
  mayContinue?: boolean;
  /** Surrounds the work on a message; the work itself unless said. */
  during?: (record: SQSRecord, work: () => Promise<Goes>) => Promise<Goes>;
}>;

/** Hands over each message of a batch by itself, all at the same time. */
export function perMessage(
  handle: MessageHandler,
  bench: Workbench,
  { mayContinue = false, during = (_, work) => work() }: PerMessage = {},
): BatchFunction {
  return ({ Records: records }, context) => {
    const works = records.map((record) =>
      inTrace(parentTrace(record), () => during(record, () => settleOne(record, context))),
    );
    return answerBatch(records, works, context, bench);
  };

  async function settleOne(record: SQSRecord, context: Context): Promise<Goes> {
    try {
      const message = await bench.read(record.body);
      const invocation = invocationOf(context, bench, mayContinue);
      return await settle(record, message, invocation);
    } catch (error) {
      return afterFailure(record, error, bench);
    }
  }

  async function settle(record: SQSRecord, message: Queued, invocation: Invocation): Promise<Goes> {
    for (let turn = 1; ; turn++) {
      const startedAt = bench.clock.now();
      const verdict = await handle(message, invocation);
      tellVerdict(message, verdict, startedAt, bench);
      const fate =
        message.kind === "signal-requested"
          ? DONE
          : fateOf(message, verdict, turn < MAX_TURNS && bench.clock.now() < invocation.until);
      switch (fate.kind) {
        case "done":
          return true;
        case "later":
          // The copy first: if this function dies in between there are two, never none.
          await bench.queue.sendLater(record, fate.inSeconds);
          return true;
        case "back":
          await bench.queue.hide(record, fate.inSeconds);
          return false;
        case "again":
          await bench.clock.pause(fate.inMs);
      }
    }
  }
}

/** Goes at a message that is early by less than a second. */
const MAX_TURNS = 5;

const DONE = { kind: "done" } as const;
