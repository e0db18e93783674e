import type { Context, SQSRecord } from "aws-lambda";
import { EngineError } from "../../lib/ports/engine-error.ts";
import type {
  Invocation,
  LookMessage,
  OwedMessage,
  ParkedMessage,
  Verdict,
} from "../../lib/ports/message.ts";
import {
  aboutMessage,
  afterFailure,
  answerBatch,
  type BatchFunction,
  type Queued,
  tellVerdict,
  type Workbench,
} from "./batch.ts";
import { backInSeconds } from "./fate.ts";
import { invocationOf } from "./invocations.ts";
import { inTrace, TRACEPARENT } from "./trace.ts";

/** What is parked for an instance. */
export type Parked = ParkedMessage | OwedMessage | LookMessage;

/** What the function does with the messages of one instance; the verdicts are in their order. */
export type InstanceHandler = (
  messages: readonly Parked[],
  invocation: Invocation,
) => Promise<readonly Verdict[]>;

/**
 * Hands over the messages of a batch by their group: those of one instance together and in order,
 * several groups at the same time. A message that cannot be read yet keeps back what came after it
 * in its group; one that never can be is set aside, and the group goes on.
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

  /** Answers with those that may be forgotten; never rejects. */
  async function settleGroup(
    group: readonly SQSRecord[],
    context: Context,
  ): Promise<ReadonlySet<SQSRecord>> {
    const { readable, aside } = await readGroup(group, bench);
    const gone = new Set(aside);
    for (const members of Map.groupBy(readable, ({ message }) => instanceOf(message)).values()) {
      const parent = members[0]?.record.messageAttributes[TRACEPARENT]?.stringValue;
      const released = await inTrace(parent, () => takeTogether(members, context));
      for (const { record } of released) gone.add(record);
    }
    return gone;
  }

  async function takeTogether(
    members: readonly Readable[],
    context: Context,
  ): Promise<readonly Readable[]> {
    try {
      const startedAt = bench.clock.now();
      const messages = members.map(({ message }) => message);
      const verdicts = await handle(messages, invocationOf(context, bench));
      for (const [n, message] of messages.entries()) {
        tellVerdict(message, verdicts[n] ?? KEPT, startedAt, bench);
      }
      const staying = members.filter((_, n) => verdicts[n] !== "release");
      // A group is delivered only when none of its messages is hidden any more.
      const seconds = staying.length > 0 ? backInSeconds(verdicts) : 0;
      for (const { record } of staying) await bench.queue.hide(record, seconds);
      return members.filter((_, n) => verdicts[n] === "release");
    } catch (error) {
      for (const { record } of members) await afterFailure(record, error, bench);
      return [];
    }
  }
}

type Readable = Readonly<{ record: SQSRecord; message: Parked }>;
type Group = Readonly<{ readable: readonly Readable[]; aside: readonly SQSRecord[] }>;

async function readGroup(group: readonly SQSRecord[], bench: Workbench): Promise<Group> {
  const readable: Readable[] = [];
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

function parked(message: Queued): Parked {
  if (message.kind === "parked" || message.kind === "owed" || message.kind === "look") {
    return message;
  }
  throw new EngineError("message/unreadable", {
    happened: "A message came through the wrong queue",
    where: JSON.stringify(aboutMessage(message)),
    fix: "Send to this queue only what is parked for an instance.",
    retryable: false,
  });
}

const instanceOf = ({ tenant, instanceId }: Parked): string => `${tenant}\0${instanceId}`;

const KEPT: Verdict = { keepForMs: 0 };
