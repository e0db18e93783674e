/**
 * The whole engine in one process: a store on disk, queues in memory, timers over the store's due
 * index. A restart loses nothing: what was owed stands in the store and is sent again at open.
 */
import { feelExpressions } from "../adapters/feelin/feel-expressions.ts";
import { HandlerRuns } from "../adapters/handlers/handler-runs.ts";
import { storedBlobs } from "../adapters/local/blobs.ts";
import { offerWatch } from "../adapters/local/offer-watch.ts";
import { openQueues } from "../adapters/local/queues.ts";
import { openLocalStore } from "../adapters/local/store.ts";
import { realClock, steadyClock } from "../adapters/node/clock.ts";
import { nodeIds } from "../adapters/node/ids.ts";
import { createEngine } from "../engine/create-engine.ts";
import { instanceKey } from "../engine/keys.ts";
import type { RecoveryReport } from "../engine/shapes/reports.ts";
import type { World } from "../engine/world.ts";
import { bpmnCompiler } from "../frontends/bpmn/compiler.ts";
import { graphRunner } from "../kernel/graph/graph-runner.ts";
import { openClock } from "./clock.ts";
import { endWatch } from "./end-watch.ts";
import { FiredTimers } from "./fired-timers.ts";
import { httpHandlers } from "./http-task.ts";
import { type EmbeddedEngine, libraryDoor } from "./library-door.ts";
import { type EmbeddedOptions, handlersOf, troubleText } from "./options.ts";
import { purgeRegularly, retentionMsOf } from "./retention.ts";
import { trailTeller } from "./trail-teller.ts";

const TENANT = "default";

/** Opens the engine on a data folder, which it then owns until it is closed. */
export async function openEngine(options: EmbeddedOptions): Promise<EmbeddedEngine> {
  const runs = new HandlerRuns();
  const own = await handlersOf(options.tasks, runs);
  // A handler of the user's own takes the place of the one that is built in.
  const handlers = new Map([...httpHandlers(options.http, runs), ...own]);
  const store = openLocalStore({
    folder: options.dataDir,
    ...(options.maxPages !== undefined && { maxPages: options.maxPages }),
  });
  try {
    const real = realClock();
    const clock = options.clock === "virtual" ? await openClock(store, real) : real;
    const ids = nodeIds();
    const retentionMs = retentionMsOf(options.retention, clock.now());
    const queues = openQueues({
      clock,
      steady: steadyClock(),
      ids,
      index: store,
      keyOf: ({ tenant, instanceId }) => instanceKey(tenant, instanceId),
      handlers,
      runs,
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      ...(options.advancePatienceMs !== undefined && { patienceMs: options.advancePatienceMs }),
      onTrouble: (trouble) => options.onTrouble?.(troubleText(trouble)),
      ...(options.onAnnouncement && { onAnnouncement: options.onAnnouncement }),
    });
    const ends = endWatch();
    const offers = offerWatch();
    const fired = new FiredTimers();
    const tellTrail = options.onTrail && trailTeller(options.onTrail);
    const expressions = feelExpressions();
    const world: World = {
      store,
      blobs: storedBlobs({ store, clock, retentionMs }),
      parking: queues.parking,
      tasks: queues.tasks,
      timers: queues.timers,
      offers,
      clock,
      ids,
      bus: queues.bus,
      pages: queues.pages,
      expressions,
      compilers: { bpmn: bpmnCompiler({ expressions }) },
      runners: { graph: graphRunner },
      settings: {
        tenant: TENANT,
        retentionMs,
        volatileQueues: true,
        virtualClock: options.clock === "virtual",
        isDeadOwner: (own) => queues.invocations.isDeadOwner(own),
      },
      onTrouble: (about, error) => options.onTrouble?.(`${about}: ${String(error)}`),
      onCommitted: (instance, before) => {
        tellTrail?.(instance, before);
        fired.tell(instance, before);
        ends.tell(instance);
      },
      observe: (observation) => fired.observe(observation),
    };
    const engine = createEngine(world);
    const recovered: RecoveryReport = await engine.recover();
    queues.consume({
      handle: engine.handle,
      advance: engine.advance,
      onDue: engine.wake,
    });
    const stopPurging = purgeRegularly({ store, clock, onTrouble: options.onTrouble });
    const onClosing = () => {
      offers.close();
      stopPurging();
    };
    const onAdvanced = offers.tellAll;
    return libraryDoor({ engine, queues, store, ends, recovered, onClosing, onAdvanced, fired });
  } catch (cause) {
    await store.close();
    throw cause;
  }
}
