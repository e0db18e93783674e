// Faults: crashes, refusals, duplicate messages, slowness, and clocks that jump.

import { stable } from "../checks/oracle.ts";
import type { Hosts } from "../world/hosts.ts";
import { type Backends, queuesOf } from "../world/ports.ts";
import { type Action, describeGate, type Stage } from "../world/stage.ts";
import type { Actor, Fault, Gate, Side } from "./actors.ts";

/** One fault at one port call, for runs that are otherwise without any. */
export type Injection = Readonly<{ call: number; side: Side; fault: "crash" | Fault }>;

/** All faults that are possible now, by kind: one with many forms must not crowd out the others. */
export function troubles(
  stage: Stage,
  hosts: Hosts,
  backends: Backends,
): readonly (readonly Action[])[] {
  const has = stage.swarm.troubles;
  return [
    has.has("crash") ? crashes(stage, hosts) : [],
    refusals(stage),
    has.has("duplicate") ? duplicates(stage, backends) : [],
    has.has("timers-twice") ? duplicatesOf("timers", backends.timers) : [],
    has.has("redeliver") ? redeliveries(stage, backends) : [],
    has.has("stall") ? stalls(stage) : [],
    has.has("halves") ? lingering(stage) : [],
    has.has("slow") ? delays(stage) : [],
    has.has("jump") ? jumps(stage, hosts) : [],
  ].filter((kind) => kind.length > 0);
}

/** The injected fault, once an actor is at its point. */
export function injected(
  stage: Stage,
  hosts: Hosts,
  { call, side, fault }: Injection,
): Action | undefined {
  const gate = stage.actors.gates.find(
    (open) => open.actor && open.call === call && open.side === side && open.call > 0,
  );
  if (gate?.actor === undefined) return undefined;
  return fault === "crash" ? crash(stage, hosts, gate.actor, gate) : refusal(stage, gate, fault);
}

function crashes(stage: Stage, hosts: Hosts): readonly Action[] {
  return stage.actors.gates.flatMap((gate) =>
    gate.actor ? [crash(stage, hosts, gate.actor, gate)] : [],
  );
}

function crash({ mode, actors }: Stage, hosts: Hosts, actor: Actor, gate: Gate): Action {
  const label = `crash at ${describeGate(gate)}`;
  if (mode === "durable") return { label, act: () => actors.kill(actor) };
  return { label: `process ${label}`, act: () => hosts.crashProcess() };
}

/** What the store and the queues may answer to a call that pauses before its work. */
function refusals(stage: Stage): readonly Action[] {
  return stage.actors.gates.flatMap((gate) =>
    gate.side === "before" && gate.actor
      ? faultsAt(stage, gate).map((fault) => refusal(stage, gate, fault))
      : [],
  );
}

function refusal({ actors }: Stage, gate: Gate, fault: Fault): Action {
  return {
    label: `${describeGate(gate)} meets ${stable(fault)}`,
    act: () => actors.leave(gate, fault),
  };
}

function faultsAt({ swarm, mode }: Stage, { point }: Gate): readonly Fault[] {
  const has = swarm.troubles;
  const isDurable = mode === "durable";
  switch (point) {
    case "store.commit":
      return [
        ...(isDurable && has.has("throttle") ? THROTTLES : []),
        ...(has.has("full") ? FULL : []),
        ...(isDurable && has.has("doubt") ? DOUBTS : []),
        ...(isDurable && has.has("halves") ? HALVES : []),
      ];
    // Only a read that allows it may be stale.
    case "store.get":
      return isDurable && has.has("halves") ? STALE : [];
    case "store.tidy":
      return has.has("doubt") ? [{ fault: "lost" }] : [];
    case "bus.publish":
      return isDurable && has.has("bus") ? BUS : [];
    case "blobs.put":
    case "blobs.get":
    case "blobs.expire":
    case "blobs.remove":
      return isDurable && has.has("doubt") ? BLOBS : [];
    case "own-queue.send":
      return isDurable && (has.has("bus") || has.has("doubt")) ? OWN_QUEUE_FAULTS : [];
    case "pages.send":
      return isDurable && has.has("bus") ? TWICE_OR_LATE : [];
    case "store.due":
      return isDurable ? [{ fault: "stale" }] : [];
    case "scheduler.create":
      return has.has("timers") ? SCHEDULER : [];
    case "scheduler.delete":
      return has.has("timers") ? [{ fault: "lost" }] : [];
    case "timers.arm":
      return has.has("timers") ? [{ fault: "duplicated" }, { fault: "delayed", byMs: 45_000 }] : [];
    case "tasks.send":
      return has.has("duplicate")
        ? [{ fault: "duplicated" }, { fault: "delayed", byMs: 120_000 }]
        : [];
    default:
      return [];
  }
}

const STALE: readonly Fault[] = [{ fault: "stale" }];

/** What is written last is visible first. */
const HALVES: readonly Fault[] = [{ fault: "reversed" }];

const TWICE_OR_LATE: readonly Fault[] = [
  { fault: "duplicated" },
  { fault: "delayed", byMs: 45_000 },
];

const BUS: readonly Fault[] = [{ fault: "refused" }, { fault: "unanswered" }, ...TWICE_OR_LATE];

/** What a user's own queue may do with a task. */
export const OWN_QUEUE_FAULTS: readonly Fault[] = [...BUS, { fault: "lost" }];

const BLOBS: readonly Fault[] = [{ fault: "refused" }, { fault: "unanswered" }];

/** What the scheduler may do beyond its normal behaviour. */
export const SCHEDULER: readonly Fault[] = [
  { fault: "never" },
  { fault: "duplicated" },
  { fault: "delayed", byMs: 600_000 },
  { fault: "busy", retryAfterMs: 20 },
];

const FULL: readonly Fault[] = [{ fault: "full" }];

const THROTTLES: readonly Fault[] = [{ fault: "busy", retryAfterMs: 20 }];

const DOUBTS: readonly Fault[] = [
  { fault: "unknown", applied: true },
  { fault: "unknown", applied: false },
  { fault: "unknown", applied: "later" },
];

function duplicates({ mode }: Stage, backends: Backends): readonly Action[] {
  if (mode === "memory") return [];
  return queuesOf(backends).flatMap(([name, queue]) => duplicatesOf(name, queue));
}

const duplicatesOf = (
  name: string,
  queue: Readonly<{ all(): readonly Readonly<{ id: number }>[]; duplicate(id: number): void }>,
): readonly Action[] =>
  queue.all().map(({ id }) => ({
    label: `${name} duplicates #${id}`,
    act: () => queue.duplicate(id),
  }));

/** A delivery takes so long that its visibility timeout ends, and it is delivered again. */
function redeliveries({ mode, now }: Stage, backends: Backends): readonly Action[] {
  if (mode === "memory") return [];
  return queuesOf(backends).flatMap(([name, queue]) =>
    queue
      .all()
      .filter(({ visibleAt }) => visibleAt > now)
      .map(({ id }) => ({
        label: `${name} brings #${id} back`,
        act: () => queue.reveal(id),
      })),
  );
}

/** An actor is so slow that the queue redelivers its message; later it continues. */
function stalls(stage: Stage): readonly Action[] {
  return stage.actors.gates.flatMap((gate) =>
    gate.actor
      ? [75_000, 95_000, 60_000, 1_200_000].map((ms) => ({
          label: `${ms} ms of standstill at ${describeGate(gate)}`,
          act: () => {
            gate.notBefore = stage.now + ms;
          },
        }))
      : [],
  );
}

/** A transaction stays half applied for a while. */
function lingering(stage: Stage): readonly Action[] {
  return stage.actors.gates
    .filter(({ point, notBefore }) => point === "store.commit:half" && notBefore <= stage.now)
    .flatMap((gate) =>
      [30, 300].map((ms) => ({
        label: `a transaction stays half applied for ${ms} ms`,
        act: () => {
          gate.notBefore = stage.now + ms;
        },
      })),
    );
}

function delays({ time }: Stage): readonly Action[] {
  return [200, 5_000, 31_000, 100_000].map((ms) => ({
    label: `${ms} ms pass meanwhile`,
    act: () => time.pass(ms),
  }));
}

/** Within two seconds of true time; the clock of a single process may be set to anything. */
function jumps(stage: Stage, hosts: Hosts): readonly Action[] {
  const isMemory = stage.mode === "memory";
  const steps = isMemory ? [-60_000, -1_000, 1_000, 60_000] : [-1_000, 1_000];
  const bound = isMemory ? 600_000 : 2_000;
  return hosts.all.flatMap(({ name, clock }) =>
    steps
      .filter((ms) => Math.abs(clock.now() + ms - stage.now) <= bound)
      .map((ms) => ({
        label: `the clock of ${name} jumps by ${ms} ms`,
        act: () => {
          clock.jump(ms);
          stage.clockIsAhead(clock.now() - stage.now);
        },
      })),
  );
}
