import { describe, expect, test } from "vitest";
import { forGood, nextAttemptOf } from "../../lib/engine/drive/report.ts";
import { findTicket } from "../../lib/kernel/batch.ts";
import type { TaskFailed } from "../../lib/kernel/fact.ts";
import type { TaskTicket } from "../../lib/kernel/instance.ts";
import { aLoop, anEnd, aProcess, aStart, aTask } from "../support/graph-builder.ts";
import { BEGIN, type Play, play } from "../support/play.ts";

const february = Date.UTC(2024, 1, 1);

type Failure = Pick<TaskFailed, "retries" | "retryAfterMs">;
type Row = readonly [title: string, backoff: string, failure: Failure, becomes: unknown];

const TABLE: readonly Row[] = [
  ["no backoff", "", {}, { attempt: 2, retries: 2 }],
  ["a backoff", "PT30S", {}, { attempt: 2, retries: 2, notBefore: BEGIN + 30_000 }],
  ["a backoff by the calendar", "P1M", {}, { attempt: 2, retries: 2, notBefore: february }],
  ["a backoff of nothing", "PT0S", {}, { attempt: 2, retries: 2 }],
  ["a backoff that goes backwards", "-PT30S", {}, { attempt: 2, retries: 2 }],
  [
    "a delay of the worker",
    "PT30S",
    { retryAfterMs: 5_000, retries: 7 },
    { attempt: 2, retries: 7, notBefore: BEGIN + 5_000 },
  ],
  ["no delay, says the worker", "PT30S", { retryAfterMs: 0 }, { attempt: 2, retries: 2 }],
  ["no attempt left", "PT30S", { retries: 0 }, "JOB_NO_RETRIES"],
  ["a backoff that is no duration", "soon", {}, "EXTRACT_VALUE_ERROR"],
  ["a backoff that is too long", "P9999999Y", {}, "EXTRACT_VALUE_ERROR"],
  [
    "a backoff that is no duration, and a delay of the worker",
    "soon",
    { retryAfterMs: 5_000 },
    { attempt: 2, retries: 2, notBefore: BEGIN + 5_000 },
  ],
  ["a backoff that is no duration, and no attempt left", "soon", { retries: 0 }, "JOB_NO_RETRIES"],
];

describe("the attempt after a failure, with", () => {
  test.each(TABLE)("%s: is the same for a task and for an item of a batch", async (...row) => {
    const [, backoff, failure, becomes] = row;

    expect(await nextOfTask(backoff, failure)).toEqual(becomes);
    expect(await nextOfMember(backoff, failure)).toEqual(becomes);
  });
});

/** The next attempt of a task with its own ticket, or the type of its incident. */
async function nextOfTask(backoff: string, failure: Failure): Promise<unknown> {
  const order = await play(aProcess([aStart(), aTask("a", { backoff }), anEnd()], FLOWS));
  await order.fail("a", failure);
  const [open] = order.instance.tickets;
  return open?.on === "task" ? attemptOf(open) : incidentOf(order);
}

/** The same for an item: its next message, or the result of its failure in the instance. */
async function nextOfMember(backoff: string, failure: Failure): Promise<unknown> {
  const many = aTask("a", { backoff, loop: aLoop() });
  const items = Array.from({ length: 11 }, (_, n) => n);
  const order = await play(aProcess([aStart(), many, anEnd()], FLOWS), { variables: { items } });
  const member = findTicket(order.instance.tickets, `${order.family("a").id}#3`);
  if (member?.on !== "task") throw new Error("The item is not open.");
  const fact: TaskFailed = {
    kind: "task-failed",
    ticket: member.id,
    attempt: 1,
    message: "it broke",
    ...failure,
  };
  const clock = { now: () => BEGIN, pause: async () => {} };
  const next = nextAttemptOf({ clock }, order.instance, member, fact);
  if (next) return attemptOf(next);
  await order.deliver(forGood(member, fact));
  return incidentOf(order);
}

function attemptOf({ attempt, retries, notBefore }: Partial<TaskTicket>): unknown {
  return { attempt, retries, ...(notBefore !== undefined && { notBefore }) };
}

function incidentOf({ instance }: Play): string | undefined {
  for (const ticket of instance.tickets) if (ticket.on === "incident") return ticket.type;
  return undefined;
}

const FLOWS = ["start -> a -> end"];
