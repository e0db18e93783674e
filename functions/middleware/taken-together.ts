import type { SQSRecord } from "aws-lambda";
import { type Ending, type Fate, fateOf, MAX_TURNS, SOON_MS } from "../../lib/ports/fate.ts";
import type { AnyParked, Invocation, Verdict } from "../../lib/ports/message.ts";
import { deliveryOf, howOf, isSuspect, logVerdict, shuffled, type Workbench } from "./batch.ts";

/** What the function does with the messages of one instance; the verdicts are in their order. */
export type InstanceHandler = (
  messages: readonly AnyParked[],
  invocation: Invocation,
) => Promise<readonly Verdict[]>;

/** A message with its record. */
export type Brought = Readonly<{ record: SQSRecord; message: AnyParked }>;

/** The outcome of one of them; those for which there was no time are left out. */
export type Settled = Brought & Readonly<{ ending: Ending } | { error: unknown }>;

/**
 * Handles messages of one instance together as long as that succeeds. When it fails, one of them
 * may be the reason: then each is handled by itself, so that only that one fails. So are those that
 * were received so often that one of them may have crashed the function.
 */
export async function takeTogether(
  members: readonly Brought[],
  handle: InstanceHandler,
  invocation: Invocation,
  bench: Workbench,
): Promise<readonly Settled[]> {
  if (members.length > 1 && members.some(({ record }) => isSuspect(record))) {
    const turned = shuffled(members, ({ record }) => record, bench);
    return takeEach(turned, handle, invocation, bench);
  }
  const settled: Settled[] = [];
  const startedAt = bench.clock.now();
  const [first] = members;
  const how = first === undefined ? {} : howOf(first.record, first.message, bench);
  let open = members;
  for (let turn = 1; open.length > 0; turn++) {
    const answer = await tryTogether(open, handle, { ...invocation, ...how });
    if ("error" in answer) {
      const apart = await takeApart(open, answer.error, handle, invocation, bench);
      return [...settled, ...apart];
    }
    const mayWait = turn < MAX_TURNS && bench.clock.now() + SOON_MS <= invocation.until;
    const waiting: (Brought & Readonly<{ inMs: number }>)[] = [];
    for (const [n, member] of open.entries()) {
      const verdict = answer.verdicts[n] ?? KEPT;
      const fate = fateOfMember(member, verdict, mayWait, bench);
      if (fate.kind === "again") waiting.push({ ...member, inMs: fate.inMs });
      else {
        logVerdict(member.message, verdict, startedAt, bench);
        settled.push({ ...member, ending: fate });
      }
    }
    if (waiting.length > 0) await bench.clock.pause(Math.max(...waiting.map(({ inMs }) => inMs)));
    open = waiting;
  }
  return settled;
}

type Answer = Readonly<{ verdicts: readonly Verdict[] } | { error: unknown }>;

async function tryTogether(
  members: readonly Brought[],
  handle: InstanceHandler,
  invocation: Invocation,
): Promise<Answer> {
  try {
    const messages = members.map(({ message }) => message);
    return { verdicts: await handle(messages, invocation) };
  } catch (error) {
    return { error };
  }
}

async function takeApart(
  members: readonly Brought[],
  error: unknown,
  handle: InstanceHandler,
  invocation: Invocation,
  bench: Workbench,
): Promise<readonly Settled[]> {
  if (members.length === 1) return members.map((member) => ({ ...member, error }));
  return takeEach(members, handle, invocation, bench);
}

async function takeEach(
  members: readonly Brought[],
  handle: InstanceHandler,
  invocation: Invocation,
  bench: Workbench,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  for (const member of members) {
    if (bench.clock.now() >= invocation.until) break;
    settled.push(...(await takeTogether([member], handle, invocation, bench)));
  }
  return settled;
}

function fateOfMember(
  { record, message }: Brought,
  verdict: Verdict,
  mayWait: boolean,
  bench: Workbench,
): Fate {
  return fateOf(message, verdict, { ...deliveryOf(record, bench), mayWait });
}

/** It was not handled. */
const KEPT: Verdict = { keepForMs: 0 };
