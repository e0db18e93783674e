/** Where scenarios are run without AWS: the embedded engine, and the simulated world. */

import { onTestFinished } from "vitest";
import { feelExpressions } from "../../lib/adapters/feelin/feel-expressions.ts";
import { loadTaskHandlers } from "../../lib/adapters/handlers/task-handlers.ts";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import { SimulatedBlobs } from "../../lib/adapters/simulated/blobs.ts";
import { SimulatedBus } from "../../lib/adapters/simulated/bus.ts";
import { SimulatedClock, SimulatedTime } from "../../lib/adapters/simulated/clock.ts";
import { SimulatedParking } from "../../lib/adapters/simulated/parking.ts";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { SimulatedTasks } from "../../lib/adapters/simulated/tasks.ts";
import { SimulatedTimers } from "../../lib/adapters/simulated/timers.ts";
import { SimulatedWorkQueue } from "../../lib/adapters/simulated/work-queue.ts";
import type { ApiRequest } from "../../lib/api/http.ts";
import { createApi } from "../../lib/api/router.ts";
import { createClient } from "../../lib/client/index.ts";
import { parseDuration } from "../../lib/definition/time/duration.ts";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import { serveEngine } from "../../lib/embedded/index.ts";
import { createEngine, type Engine } from "../../lib/engine/engine.ts";
import { MANY_PROCESSES } from "../../lib/engine/world.ts";
import { bpmnCompiler } from "../../lib/frontends/bpmn/compiler.ts";
import { graphRunner } from "../../lib/kernel/graph/graph-runner.ts";
import type { Message, Verdict } from "../../lib/ports/message.ts";
import { anEngine } from "./embedded.ts";
import { SCENARIO_TASKS, type ScenarioHost } from "./scenario.ts";

/** The embedded engine behind its own HTTP server, on a virtual clock. */
export async function embeddedHost(): Promise<ScenarioHost> {
  const engine = await anEngine({ tasks: SCENARIO_TASKS });
  const server = await serveEngine(engine, { port: 0 });
  onTestFinished(() => server.close());
  const client = createClient({ baseUrl: server.url });
  return {
    client,
    pass: async (duration) => void (await client.advanceClock(duration)),
    pause: () => new Promise((resolve) => setTimeout(resolve, 20)),
  };
}

/** Durable queues, a store whose indexes lag, and every message delivered twice. */
export async function simulatedHost(): Promise<ScenarioHost> {
  const time = new SimulatedTime(instantFrom(Date.UTC(2030, 0, 1)));
  const clock = new SimulatedClock({ time });
  const turn = async (point: string) =>
    point === "send:before" ? ({ fault: "duplicated" } as const) : undefined;
  const tasks = new SimulatedTasks({
    clock,
    turn,
    handlers: await loadTaskHandlers(SCENARIO_TASKS),
  });
  const parking = new SimulatedParking({ clock, turn });
  const work = new SimulatedWorkQueue({ clock, turn });
  const timers = new SimulatedTimers({ clock, turn });
  const expressions = feelExpressions();
  const engine = createEngine({
    store: new SimulatedStore({}),
    blobs: new SimulatedBlobs(),
    parking,
    tasks,
    workQueue: work,
    timers,
    bus: new SimulatedBus({ work }),
    clock,
    ids: nodeIds(),
    expressions,
    compilers: { bpmn: bpmnCompiler({ expressions }) },
    runners: { graph: graphRunner },
    settings: { tenant: "default", retentionMs: 30 * 86_400_000, host: MANY_PROCESSES },
  });
  const queues: readonly Deliverable[] = [tasks, parking, work, timers];
  return {
    client: createClient({ baseUrl: "http://simulated", fetch: answering(engine) }),
    pass: async (duration) => {
      await passing(time, queues, engine, msOf(duration));
    },
    pause: () => passing(time, queues, engine, 0),
  };
}

/** What all queues have in common. */
type Deliverable = Readonly<{
  ready(): readonly Readonly<{ id: number }>[];
  nextVisible(): Instant | undefined;
  deliver(id: number, consumer: (message: Message) => Promise<Verdict>): Promise<void>;
}>;

/** Passes requests to the router, without a network. */
function answering(engine: Engine): typeof globalThis.fetch {
  const api = createApi({ engine, settings: { version: "0.0.0" } });
  return async (input, init = {}) => {
    const url = new URL(String(input));
    const request: ApiRequest = {
      method: init.method ?? "GET",
      path: url.pathname,
      query: url.search.slice(1),
      headers: Object.fromEntries(new Headers(init.headers)),
      body: new Uint8Array(await new Response(init.body ?? null).arrayBuffer()),
    };
    const { status, headers, body } = await api(request);
    return new Response(status === 204 ? null : new Uint8Array(Buffer.from(body)), {
      status,
      headers,
    });
  };
}

/** Lets time pass, pausing whenever a message becomes visible. */
async function passing(
  time: SimulatedTime,
  queues: readonly Deliverable[],
  engine: Engine,
  ms: number,
): Promise<void> {
  const end = time.now() + ms;
  for (;;) {
    await deliverAll(queues, engine, time);
    const next = Math.min(...queues.map((queue) => queue.nextVisible() ?? end));
    if (time.now() >= end) return;
    time.pass(Math.min(next, end) - time.now());
  }
}

async function deliverAll(
  queues: readonly Deliverable[],
  engine: Engine,
  time: SimulatedTime,
): Promise<void> {
  for (let delivered = true; delivered; ) {
    delivered = false;
    for (const queue of queues) {
      const [next] = queue.ready();
      if (next === undefined) continue;
      delivered = true;
      const until = instantFrom(time.now() + 60_000);
      const invocation = { id: crypto.randomUUID(), until, mayContinue: true };
      await queue.deliver(next.id, (message) => engine.handle(message, invocation));
    }
  }
}

function msOf(text: string): number {
  const duration = parseDuration(text);
  if (!duration.ok) throw new Error(duration.problem);
  return duration.value.timeMs;
}
