// Deliveries: a queue delivers a message to a host; parking delivers a batch for one instance at a
// time.
import type { Queued, SimulatedQueue } from "../../../lib/adapters/simulated/queue.ts";
import { UNDELIVERABLE } from "../../../lib/engine/drive/receive.ts";
import type {
  Invocation,
  LookMessage,
  Message,
  OwedMessage,
  ParkedMessage,
  Verdict,
} from "../../../lib/ports/message.ts";
import { sendLater } from "../world/aws-timers.ts";
import type { Host } from "../world/host.ts";
import type { Hosts } from "../world/hosts.ts";
import { type Backends, queuesOf } from "../world/ports.ts";
import type { Action, Stage } from "../world/stage.ts";

type Parked = ParkedMessage | OwedMessage | LookMessage;

/** The deliveries that can be made now. */
export function deliveries(stage: Stage, hosts: Hosts, backends: Backends): readonly Action[] {
  const singles = queuesOf(backends)
    .filter(([name]) => name !== "parking")
    .flatMap(([name, queue]) =>
      queue.ready().map((queued) => ({
        label: `${name} delivers ${nameOf(queued.message)} #${queued.id}`,
        act: () => deliver(stage, hosts, backends, queue, queued),
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
  { timers }: Backends,
  queue: SimulatedQueue<Message>,
  { message, id }: Queued<Message>,
): void {
  const host = hosts.any();
  const invocation = hosts.invocation(host, message.kind === "task");
  const handle = async (each: Message, receives: number): Promise<Verdict> => {
    const verdict = await (isTooOften(stage, each, receives)
      ? giveUp(stage, host, each, { ...invocation, ...asideAfter(stage, receives - 1) })
      : host.engine.handle(each, {
          ...invocation,
          ...(each.kind !== "task" && asideAfter(stage, receives)),
        }));
    if (verdict === "release" || stage.mode === "memory") return verdict;
    if (each.kind !== "timer" && each.kind !== "timer-start") return verdict;
    // A queue that counts its deliveries does not keep a message: a copy is sent later.
    if (verdict.keepForMs < 1_000) return verdict;
    await sendLater(stage, timers, each, verdict.keepForMs);
    return "release";
  };
  const carried = "start" in message ? message.start : undefined;
  stage.spawn(
    `${invocation.id} ${message.kind} ${nameOf(message)}`,
    host,
    () => queue.deliver(id, (each, receives) => handle(each, receives)),
    { onDeath: () => queue.abandon(id), ...(carried && { carried }) },
  );
}

const isTooOften = ({ scenario, mode }: Stage, { kind }: Message, receives: number): boolean =>
  kind === "task" && mode === "durable" && receives > (scenario.maxReceives ?? Infinity);

/** A message that was delivered too often is set aside, if queues count. */
function asideAfter({ scenario, mode }: Stage, receives: number): Pick<Invocation, "aside"> {
  const isAside = scenario.setsAside === true && mode === "durable";
  if (!isAside || receives <= (scenario.maxReceives ?? Infinity)) return {};
  return { aside: "it came too often" };
}

/** What the dead-letters function does with a task. */
function giveUp(
  stage: Stage,
  { engine }: Host,
  message: Message,
  invocation: Invocation,
): Promise<Verdict> {
  if (message.kind === "task") {
    const { instanceId, ticket, attempt } = message;
    const fact = { kind: "task-failed", ticket, attempt, message: UNDELIVERABLE } as const;
    stage.brings(instanceId, fact);
  }
  return engine.giveUp(message, invocation);
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
  const aside = asideAfter(stage, Math.max(...batch.map(({ receives }) => receives)) + 1);
  stage.spawn(
    `${invocation.id} advance ${names.join(" ")}`,
    host,
    () =>
      parking.deliverBatch(ids, (messages) =>
        host.engine.advance(messages, { ...invocation, ...aside }),
      ),
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
    case "missed":
      return `${message.instanceId} ${message.ticket}`;
    case "timer-start":
      return `${message.definitionId} ${message.element} ${message.run}.${message.n}`;
    case "members":
      return `${message.instanceId} ${message.ticket}#${message.from}`;
    case "cancel-members":
      return `no more ${message.instanceId} ${message.ticket}#${message.numbers[0]}`;
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
    case "poke":
      return `poke ${message.name} ${message.key}`;
  }
}
