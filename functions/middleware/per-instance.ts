import type { Context, SQSRecord } from "aws-lambda";
import type { Ending } from "../../lib/ports/fate.ts";
import type { AnyParked } from "../../lib/ports/message.ts";
import { isParked } from "../../lib/ports/message-kinds.ts";
import {
  afterFailure,
  answerBatch,
  type BatchFunction,
  finishMessage,
  type Goes,
  type Queued,
  type Workbench,
} from "./batch.ts";
import { invocationOf } from "./invocations.ts";
import {
  type Brought,
  type InstanceHandler,
  type Settled,
  takeTogether,
} from "./taken-together.ts";
import { inTrace, TRACEPARENT } from "./trace.ts";
import { wrongQueue } from "./wrong-queue.ts";

/**
 * Handles the messages of a batch by group: those of one instance together and in order, several
 * groups at the same time. A message that cannot be read yet holds back the later ones of its
 * group; one that is unreadable is set aside, and the group continues.
 */
export function perInstance(handle: InstanceHandler, bench: Workbench): BatchFunction {
  return ({ Records: records }, context) => {
    const groups = Map.groupBy(records, ({ attributes }) => attributes.MessageGroupId);
    const going = new Map(
      [...groups].map(([id, group]) => [id, settleGroup(group, context)] as const),
    );
    const works = records.map(async (record) => {
      const gone = await going.get(record.attributes.MessageGroupId);
      return gone?.has(record) === true;
    });
    return answerBatch(records, works, context, bench);
  };

  /** Resolves to those that may be deleted; never rejects. */
  async function settleGroup(
    group: readonly SQSRecord[],
    context: Context,
  ): Promise<ReadonlySet<SQSRecord>> {
    const { readable, aside } = await readGroup(group, bench);
    const gone = new Set(aside);
    for (const members of Map.groupBy(readable, ({ message }) => instanceOf(message)).values()) {
      const parent = members[0]?.record.messageAttributes[TRACEPARENT]?.stringValue;
      const released = await inTrace(parent, async () => {
        const invocation = invocationOf(context, bench);
        return finishAll(await takeTogether(members, handle, invocation, bench));
      });
      for (const record of released) gone.add(record);
    }
    return gone;
  }

  /** A group is delivered only when none of its messages is hidden: those that stay wait together. */
  async function finishAll(settled: readonly Settled[]): Promise<readonly SQSRecord[]> {
    const inSeconds = Math.max(0, ...settled.map(secondsHidden));
    const gone: SQSRecord[] = [];
    for (const one of settled) {
      const goes =
        "error" in one
          ? await afterFailure(one.record, one.error, bench)
          : await seeOffOne(one.record, one.ending, inSeconds);
      if (goes) gone.push(one.record);
    }
    return gone;
  }

  async function seeOffOne(record: SQSRecord, ending: Ending, inSeconds: number): Promise<Goes> {
    try {
      return await finishMessage(
        record,
        ending.kind === "back" ? { ...ending, inSeconds } : ending,
        bench,
      );
    } catch (error) {
      return afterFailure(record, error, bench);
    }
  }
}

const secondsHidden = (one: Settled): number =>
  "ending" in one && one.ending.kind === "back" ? one.ending.inSeconds : 0;

type Group = Readonly<{ readable: readonly Brought[]; aside: readonly SQSRecord[] }>;

async function readGroup(group: readonly SQSRecord[], bench: Workbench): Promise<Group> {
  const readable: Brought[] = [];
  const aside: SQSRecord[] = [];
  for (const record of group) {
    try {
      readable.push({ record, message: parked(await bench.read(record.body)) });
    } catch (error) {
      if (!(await afterFailure(record, error, bench))) break;
      aside.push(record);
    }
  }
  return { readable, aside };
}

function parked(message: Queued): AnyParked {
  if (message.kind !== "signal-requested" && isParked(message)) return message;
  throw wrongQueue(message, "Send to this queue only what is parked for an instance.");
}

const instanceOf = ({ tenant, instanceId }: AnyParked): string => `${tenant}\0${instanceId}`;
