// A queue of the emulator while its clock stands still, as the contract suites open one.

import type { SQSClient } from "@aws-sdk/client-sqs";
import { SimulatedBlobs } from "../../lib/adapters/simulated/blobs.ts";
import { unpackMessage } from "../../lib/adapters/sqs/body.ts";
import type { Instant } from "../../lib/definition/time/instant.ts";
import type { Blobs } from "../../lib/ports/blobs.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import type { Message, Verdict } from "../../lib/ports/message.ts";
import { stopTime } from "./emulator.ts";
import { createQueue, type TestQueue } from "./sqs-queue.ts";

type Of<K extends Message["kind"]> = Extract<Message, { kind: K }>;

export type StoppedQueue<K extends Message["kind"]> = Readonly<{
  queue: TestQueue;
  blobs: Blobs;
  clock: Clock;
  consume(consumer: (message: Of<K>) => Promise<Verdict>): void;
  consumeBatches(consumer: (messages: readonly Of<K>[]) => Promise<readonly Verdict[]>): void;
  now(): Instant;
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}>;

/** Opens an empty queue for messages of these kinds; another kind that arrives is an error. */
export async function openStoppedQueue<K extends Message["kind"]>(
  client: SQSClient,
  kinds: readonly K[],
  { fifo = false } = {},
): Promise<StoppedQueue<K>> {
  const time = await stopTime();
  const queue = await createQueue(client, { fifo });
  const blobs = new SimulatedBlobs();
  let consumer: ((messages: readonly Of<K>[]) => Promise<readonly Verdict[]>) | undefined;
  const failures: unknown[] = [];

  async function read(body: string): Promise<Of<K>> {
    const message = await unpackMessage(body, blobs);
    if (isOf(kinds, message)) return message;
    throw new Error(`a ${message.kind} arrived`);
  }

  async function deliver(bodies: readonly string[]): Promise<readonly Verdict[]> {
    // An unreadable message would be redelivered for ever, and its test would only see that it is
    // missing.
    const messages = await Promise.all(bodies.map(read)).catch((cause: unknown) => {
      failures.push(cause);
      throw cause;
    });
    return consumer?.(messages) ?? [];
  }

  return {
    queue,
    blobs,
    clock: { now: () => time.now(), pause: async () => {} },
    consume(next) {
      consumer = (messages) => Promise.all(messages.map(next));
    },
    consumeBatches(next) {
      consumer = next;
    },
    now: () => time.now(),
    async pass(ms) {
      await time.pass(ms, async () => {
        if (consumer !== undefined) await queue.drain(deliver);
      });
      if (failures.length > 0) throw failures[0];
    },
    async close() {
      await queue.drop();
      await time.goOn();
    },
  };
}

function isOf<K extends Message["kind"]>(
  kinds: readonly K[],
  message: Readonly<{ kind: string }>,
): message is Of<K> {
  return kinds.some((kind) => kind === message.kind);
}
