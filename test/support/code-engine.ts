import { onTestFinished } from "vitest";
import { feelExpressions } from "../../lib/adapters/feelin/feel-expressions.ts";
import { HandlerRuns } from "../../lib/adapters/handlers/handler-runs.ts";
import { storedBlobs } from "../../lib/adapters/local/blobs.ts";
import { openQueues } from "../../lib/adapters/local/queues.ts";
import { openStepJournal } from "../../lib/adapters/local/step-journal.ts";
import { openLocalStore } from "../../lib/adapters/local/store.ts";
import { realClock, steadyClock } from "../../lib/adapters/node/clock.ts";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import type { Compiler } from "../../lib/definition/diagnostic.ts";
import { beginWork } from "../../lib/embedded/begin-work.ts";
import { openClock } from "../../lib/embedded/clock.ts";
import { embeddedEngine } from "../../lib/embedded/embedded-engine.ts";
import { endWatch } from "../../lib/embedded/end-watch.ts";
import { FiredTimers } from "../../lib/embedded/fired-timers.ts";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import { createEngine } from "../../lib/engine/engine.ts";
import { instanceKey } from "../../lib/engine/storage/keys.ts";
import { ONE_PROCESS } from "../../lib/engine/world.ts";
import { bpmnCompiler } from "../../lib/frontends/bpmn/compiler.ts";
import { graphRunner } from "../../lib/kernel/graph/graph-runner.ts";
import { quietAlarm } from "../../lib/ports/alarm.ts";
import { aDataDir } from "./embedded.ts";
import { generatorRunner, type Workflow } from "./generator-runner.ts";

/**
 * The embedded engine, its real queues and its store on disk, with the generator-based runner
 * beside the other: until it has a notation, this runner is the one that waits for events. The
 * workflows are deployed under their names. The clock is virtual.
 */
export async function aCodeEngine(
  workflows: Readonly<Record<string, Workflow>>,
  { dataDir = aDataDir() }: Readonly<{ dataDir?: string }> = {},
): Promise<EmbeddedEngine> {
  const store = openLocalStore({ folder: dataDir });
  const clock = await openClock(store, realClock());
  const ids = nodeIds();
  const steady = steadyClock();
  const journal = openStepJournal({ folder: dataDir, steady, alarm: quietAlarm });
  const queues = openQueues({
    clock,
    steady,
    ids,
    index: store,
    keyOf: ({ tenant, instanceId }) => instanceKey(tenant, instanceId),
    handlers: new Map(),
    runs: new HandlerRuns(),
    onTrouble: ({ about, error }) => {
      throw new Error(`${about}: ${String(error)}`);
    },
  });
  const ends = endWatch();
  const fired = new FiredTimers();
  const expressions = feelExpressions();
  const engine = createEngine({
    store,
    blobs: storedBlobs({ store, clock, retentionMs: RETENTION_MS }),
    parking: queues.parking,
    tasks: queues.tasks,
    timers: queues.timers,
    clock,
    ids,
    bus: queues.bus,
    workQueue: queues.work,
    expressions,
    compilers: { bpmn: bpmnCompiler({ expressions }), code: byName },
    runners: { graph: graphRunner, code: generatorRunner(new Map(Object.entries(workflows))) },
    settings: {
      tenant: "default",
      retentionMs: RETENTION_MS,
      host: ONE_PROCESS,
      virtualClock: true,
      isDeadOwner: (own) => queues.invocations.isDeadOwner(own),
    },
    onCommitted: (instance, before) => {
      fired.tell(instance, before);
      ends.tell(instance);
    },
  });
  const work = beginWork({ engine, queues, journal, onTrouble: () => {} });
  const door = embeddedEngine({ engine, queues, store, ends, work, fired, onClosing: () => {} });
  onTestFinished(() => door.close({ graceMs: 100 }));
  for (const name of Object.keys(workflows)) {
    await door.deploy({ notation: "code", source: name });
  }
  return door;
}

const RETENTION_MS = 30 * 86_400_000;

/** The source of a workflow is its name: its code is passed in. */
const byName: Compiler = async (name) => ({
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
