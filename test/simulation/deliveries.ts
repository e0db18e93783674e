// Deliveries: a queue hands a message to a host, parking a batch for one instance at a time.
import type { Queued, SimulatedQueue } from "../../lib/adapters/simulated/queue.ts";
import type { LookMessage, Message, OwedMessage, ParkedMessage } from "../../lib/ports/message.ts";
import type { Hosts } from "./hosts.ts";
import { type Backends, queuesOf } from "./ports.ts";
import type { Action, Stage } from "./stage.ts";

type Parked = ParkedMessage | OwedMessage | LookMessage;

/** The deliveries that can be made now. */
export function deliveries(stage: Stage, hosts: Hosts, backends: Backends): readonly Action[] {
  const singles = queuesOf(backends)
    .filter(([name]) => name !== "parking")
    .flatMap(([name, queue]) =>
      queue.ready().map((queued) => ({
        label: `${name} delivers ${nameOf(queued.message)} #${queued.id}`,
        act: () => deliver(stage, hosts, queue, queued),
      })),
    );
  const batches = backends.parking.batches().map((batch) => ({
    label: `parking delivers ${batch.map(({ id, message }) => `${message.kind} ${message.name} #${id}`).join(", ")}`,
    act: () => deliverBatch(stage, hosts, backends, batch),
  }));
  return [...singles, ...batches];
}

function deliver(
  stage: Stage,
  hosts: Hosts,
  queue: SimulatedQueue<Message>,
  { message, id }: Queued<Message>,
): void {
  const host = hosts.any();
  const invocation = hosts.invocation(host, message.kind === "task");
  const carried = "start" in message ? message.start : undefined;
  stage.spawn(
    `${invocation.id} ${message.kind} ${nameOf(message)}`,
    host,
    () => queue.deliver(id, (each) => host.engine.handle(each, invocation)),
    { onDeath: () => queue.abandon(id), ...(carried && { carried }) },
  );
}

function deliverBatch(
  stage: Stage,
  hosts: Hosts,
  { parking }: Backends,
  batch: readonly Queued<Parked>[],
): void {
  const host = hosts.any();
  const invocation = hosts.invocation(host, false);
  const ids = batch.map(({ id }) => id);
  const names = batch.map(({ message }) => message.name);
  stage.spawn(
    `${invocation.id} advance ${names.join(" ")}`,
    host,
    () => parking.deliverBatch(ids, (messages) => host.engine.advance(messages, invocation)),
    {
      onDeath: () => {
        for (const id of ids) parking.abandon(id);
      },
    },
  );
}

function nameOf(message: Message): string {
  switch (message.kind) {
    case "task":
      return `${message.instanceId} ${message.ticket}/${message.attempt}`;
    case "timer":
      return `${message.instanceId} ${message.ticket}`;
    case "parked":
    case "owed":
    case "look":
      return `${message.instanceId} ${message.name}`;
    case "broadcast":
    case "watch":
      return `${message.kind} ${message.broadcastId}`;
    case "shard":
      return `shard ${message.broadcastId} ${message.epoch}.${message.shard}`;
    case "page":
      return `page ${message.broadcastId} ${message.page}`;
    case "offer":
      return `offer ${message.name} ${message.seq}`;
  }
}
