import { feelExpressions } from "../../lib/adapters/feelin/feel-expressions.ts";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import { SimulatedBlobs } from "../../lib/adapters/simulated/blobs.ts";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import type { Compiler } from "../../lib/definition/diagnostic.ts";
import type { Variables } from "../../lib/definition/json.ts";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import { createEngine, type Engine } from "../../lib/engine/engine.ts";
import { MANY_PROCESSES, type World } from "../../lib/engine/world.ts";
import { bpmnCompiler } from "../../lib/frontends/bpmn/compiler.ts";
import { graphRunner } from "../../lib/kernel/graph/graph-runner.ts";
import type { Instance } from "../../lib/kernel/instance.ts";
import type { Blobs } from "../../lib/ports/blobs.ts";
import type { Message } from "../../lib/ports/message.ts";
import type { Store } from "../../lib/ports/store.ts";
import type { TaskHandler } from "../../lib/ports/tasks.ts";
import type { ArmedStart, ArmedTimer } from "../../lib/ports/timers.ts";
import { generatorRunner, type Workflow } from "./generator-runner.ts";

/** An engine whose queues are an array: nothing moves until the test drains it. */
export type PlainWorld = Readonly<{
  engine: Engine;
  queued: Message[];
  /** Every instance that was committed, in order. */
  commits: Instance[];
  /** Every timer that was armed, in order. */
  armed: ArmedTimer[];
  /** The same for start events. */
  armedStarts: ArmedStart[];
  /** Handles what is queued, and what that queues, until nothing is left. */
  drain(): Promise<void>;
  now(): Instant;
  moveTo(instant: number): void;
}>;

export function aPlainWorld({
  store = new SimulatedStore({}),
  blobs = new SimulatedBlobs(),
  tasks = {},
  handlers = {},
  mayContinue = true,
  workflows = new Map(),
  invocationId = (count) => `invocation-${count}`,
  settings = {},
  ...others
}: {
  store?: Store;
  blobs?: Blobs;
  tasks?: Readonly<Record<string, (input: Variables) => Variables>>;
  /** Handlers with more settings than their outcome. */
  handlers?: Readonly<Record<string, TaskHandler>>;
  mayContinue?: boolean;
  /** Programs of the generator-based runner, deployed by their names as source. */
  workflows?: ReadonlyMap<string, Workflow>;
  /** The name of the invocation that handles the next message; counts from 1. */
  invocationId?: (count: number) => string;
  settings?: Partial<World["settings"]>;
} & Partial<
  Pick<
    World,
    "timers" | "bus" | "onTrouble" | "observe" | "ownQueues" | "expressions" | "watch" | "sandbox"
  >
> = {}): PlainWorld {
  const queued: Message[] = [];
  const commits: Instance[] = [];
  const armed: ArmedTimer[] = [];
  const armedStarts: ArmedStart[] = [];
  const expressions = feelExpressions();
  let now = instantFrom(1_800_000_000_000);
  let count = 0;
  const engine = createEngine({
    store,
    blobs,
    parking: { park: async (message) => void queued.push(message) },
    tasks: {
      send: async (message) => void queued.push(message),
      handlerOf: (type) => {
        const run = tasks[type];
        if (run === undefined) return handlers[type];
        return { timeoutMs: 1_000, isolate: false, exclusive: false, run: running(run) };
      },
      types: () => [...Object.keys(tasks), ...Object.keys(handlers)],
      holds: () => false,
      stop: () => {},
    },
    bus: {
      publish: async ({ tenant, broadcastId }) => {
        queued.push({ kind: "broadcast", tenant, broadcastId });
        return true;
      },
    },
    workQueue: { send: async (message) => void queued.push(message) },
    timers: {
      arm: async (timer) => {
        if ("instanceId" in timer) armed.push(timer);
        else armedStarts.push(timer);
      },
      disarm: async () => {},
    },
    clock: { now: () => now, pause: async () => {} },
    ids: nodeIds(),
    expressions,
    compilers: { bpmn: bpmnCompiler({ expressions }), code: namedWorkflow },
    runners: { graph: graphRunner, code: generatorRunner(workflows) },
    settings: { tenant: "default", retentionMs: 86_400_000, host: MANY_PROCESSES, ...settings },
    onCommitted: (instance) => void commits.push(instance),
    ...others,
  });
  const drain = async () => {
    for (let message = queued.shift(); message; message = queued.shift()) {
      count += 1;
      const until = instantFrom(now + 900_000);
      await engine.handle(message, { id: invocationId(count), until, mayContinue });
    }
  };
  return {
    engine,
    queued,
    commits,
    armed,
    armedStarts,
    drain,
    now: () => now,
    moveTo: (instant) => {
      now = instantFrom(instant);
    },
  };
}

/** The source of a generator workflow is its name: its code is passed in. */
const namedWorkflow: Compiler = async (name) => ({
  ok: true,
  diagnostics: [],
  processes: [
    {
      id: name,
      notation: "code",
      body: { runner: "code", program: { workflow: name, engine: "none" } },
      elements: [name],
      startEvents: [],
    },
  ],
});

const running = (run: (input: Variables) => Variables) => async (input: Variables) =>
  ({ kind: "completed", variables: run(input) }) as const;
