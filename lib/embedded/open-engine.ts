/**
 * The whole engine in one process: a store on disk, queues in memory, timers over the store's due
 * index. A restart loses nothing: unsent work is in the store and is sent again at open. That
 * starts after the caller has had the chance to listen: whatever is to be recovered, the engine can
 * be asked about it, and instances can be cancelled.
 */

import { feelExpressions } from "../adapters/feelin/feel-expressions.ts";
import { HandlerRuns } from "../adapters/handlers/handler-runs.ts";
import { storedBlobs } from "../adapters/local/blobs.ts";
import { offerWatch } from "../adapters/local/offer-watch.ts";
import { openQueues } from "../adapters/local/queues.ts";
import { openStepJournal } from "../adapters/local/step-journal.ts";
import { type LocalStore, openLocalStore } from "../adapters/local/store.ts";
import { realClock, steadyClock } from "../adapters/node/clock.ts";
import { nodeIds } from "../adapters/node/ids.ts";
import { type WorkerSandbox, workerSandbox } from "../adapters/quickjs/worker-sandbox.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { createEngine } from "../engine/engine.ts";
import { instanceKey } from "../engine/storage/keys.ts";
import { type HostWorld, ONE_PROCESS } from "../engine/world.ts";
import { bpmnCompiler } from "../frontends/bpmn/compiler.ts";
import { codeCompiler } from "../frontends/code/compiler.ts";
import { originsIn } from "../frontends/code/map-stack.ts";
import { codeRunners } from "../kernel/code/code-runner.ts";
import { graphRunner } from "../kernel/graph/graph-runner.ts";
import { quietAlarm } from "../ports/alarm.ts";
import type { EngineError } from "../ports/engine-error.ts";
import { analyseApart } from "./analyse-apart.ts";
import { beginWork } from "./begin-work.ts";
import { openClock } from "./clock.ts";
import { allWarnings, deployBundles } from "./deploy-bundles.ts";
import { type EmbeddedEngine, embeddedEngine } from "./embedded-engine.ts";
import { endWatch } from "./end-watch.ts";
import { FiredTimers } from "./fired-timers.ts";
import { HTTP_OPTIONS, httpHandlers } from "./http-task.ts";
import { refuseUnknownOptions } from "./known-options.ts";
import { EMBEDDED_OPTIONS, type EmbeddedOptions, troubleText } from "./options.ts";
import { pacedExpressions } from "./paced-expressions.ts";
import { purgeRegularly, retentionMsOf } from "./retention.ts";
import { sendHandlers } from "./send-tasks.ts";
import { trailListener } from "./trail-listener.ts";
import { troubleLog } from "./trouble-log.ts";
import { loadUserCode, type UserCode } from "./user-code.ts";
import { watchCode } from "./watch-code.ts";
import { refusedWorkflows } from "./workflow-files.ts";

const TENANT = "default";

/** Opens the engine on a data folder, which it then owns until it is closed. */
export async function openEngine(options: EmbeddedOptions): Promise<EmbeddedEngine> {
  refuseUnknownOptions("openEngine", options, EMBEDDED_OPTIONS);
  refuseUnknownOptions("openEngine, http", options.http ?? {}, HTTP_OPTIONS);
  const sandbox = workerSandbox();
  try {
    return await openWith(options, sandbox);
  } catch (cause) {
    await sandbox.close();
    throw cause;
  }
}

async function openWith(options: EmbeddedOptions, sandbox: WorkerSandbox): Promise<EmbeddedEngine> {
  const runs = new HandlerRuns();
  const isWatched = options.onReload !== undefined;
  const loaded = await loadUserCode(options, { runs, sandbox, isWatched });
  if (!loaded.ok) throw loaded.errors[0];
  let opened: EmbeddedEngine | undefined;
  const sending = sendHandlers(() => checkedOpen(opened), runs);
  // A user's handler replaces the built-in one.
  const handlers = new Map([
    ...httpHandlers(options.http, runs),
    ...sending,
    ...loaded.code.handlers,
  ]);
  const store = openLocalStore({
    folder: options.dataDir,
    helper: sandbox,
    ...(options.acceptLoss !== undefined && { acceptLoss: options.acceptLoss }),
    ...(options.maxPages !== undefined && { maxPages: options.maxPages }),
  });
  try {
    const real = realClock();
    const clock = options.clock === "virtual" ? await openClock(store, real) : real;
    const steady = steadyClock();
    const tellTrouble = troubleLog(options.onTrouble, steady);
    const ids = nodeIds();
    const retentionMs = retentionMsOf(options.retention, clock.now());
    const journal = openStepJournal({ folder: options.dataDir, steady, alarm: quietAlarm });
    const queues = openQueues({
      clock,
      steady,
      ids,
      index: store,
      keyOf: ({ tenant, instanceId }) => instanceKey(tenant, instanceId),
      handlers,
      runs,
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      ...(options.advancePatienceMs !== undefined && { patienceMs: options.advancePatienceMs }),
      onTrouble: (trouble) => tellTrouble(troubleText(trouble), trouble.error),
      ...(options.onAnnouncement && { onAnnouncement: options.onAnnouncement }),
    });
    let stopped: EngineError | undefined;
    store.watchLost((error) => {
      stopped = error;
      void queues.close({ graceMs: 0 });
      // Later, so that a caller whose folder is damaged has the engine by then.
      setImmediate(() => options.onStopped?.(error));
    });
    const ends = endWatch();
    const offers = offerWatch();
    const fired = new FiredTimers();
    const tellTrail = options.onTrail && trailListener(options.onTrail);
    const expressions = pacedExpressions(feelExpressions());
    const world: HostWorld = {
      store,
      blobs: storedBlobs({ store, clock, retentionMs }),
      parking: queues.parking,
      tasks: queues.tasks,
      timers: queues.timers,
      offers,
      clock,
      ids,
      bus: queues.bus,
      workQueue: queues.work,
      expressions,
      compilers: {
        bpmn: bpmnCompiler({ expressions }),
        code: codeCompiler({
          sandbox,
          analyse: analyseApart,
          hasHandler: (type) => handlers.has(type),
        }),
      },
      runners: { graph: graphRunner, code: codeRunners(sandbox) },
      sandbox,
      origins: originsIn,
      watch: journal,
      settings: {
        tenant: TENANT,
        retentionMs,
        host: ONE_PROCESS,
        virtualClock: options.clock === "virtual",
        isDeadOwner: (own) => queues.invocations.isDeadOwner(own),
      },
      onTrouble: (about, error) => tellTrouble(`${about}: ${String(error)}`, error),
      onCommitted: (instance, before) => {
        tellTrail?.(instance, before);
        fired.tell(instance, before);
        ends.tell(instance);
      },
      observe: (observation) => fired.observe(observation),
    };
    const engine = createEngine(world);
    const onTrouble = (message: string) => options.onTrouble?.(message);
    const work = beginWork({ engine, queues, journal, onTrouble });
    const stopPurging = purgeRegularly({ store, clock, onTrouble: options.onTrouble });
    const stopWatching = watchFiles(store);
    let stopReloading = () => {};
    const onClosing = () => {
      stopWatching();
      stopReloading();
      offers.close();
      stopPurging();
      void sandbox.close();
    };
    const checkRunning = () => {
      if (stopped) throw stopped;
    };
    const onAdvanced = offers.tellAll;
    opened = embeddedEngine({
      engine,
      queues,
      store,
      ends,
      work,
      fired,
      checkRunning,
      onClosing,
      onAdvanced,
    });
    const warnings = await deployAll(opened, loaded.code);
    warnings.forEach(options.onWarning ?? emitWarning);
    const { onReload } = options;
    if (onReload) {
      stopReloading = watchCode({
        given: options,
        runs,
        sandbox,
        engine: opened,
        handlers,
        loaded,
        onReload,
      });
    }
    return opened;
  } catch (cause) {
    await (opened === undefined ? store.close() : opened.close({ graceMs: 0 }));
    throw cause;
  }
}

/** Deploys all workflows or none; returns what is suspicious about them. */
async function deployAll(
  engine: EmbeddedEngine,
  { files }: UserCode,
): Promise<readonly Diagnostic[]> {
  const made = [...files.values()].map((file) => file.made);
  const result = await deployBundles(
    engine,
    made.flatMap(({ path, bundle }) => (bundle === undefined ? [] : [{ path, bundle }])),
  );
  if (!result.ok) throw refusedWorkflows(result.diagnostics);
  return allWarnings(
    made.flatMap(({ warnings }) => warnings),
    result.warnings,
  );
}

/** A warning of the process: on its standard error output, unless the application listens. */
function emitWarning({ code, file, line, message, hint }: Diagnostic): void {
  const where = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
  process.emitWarning(`${where}${message}`, {
    type: "FermataWarning",
    code,
    detail: hint,
  });
}

/** Tasks run only once the engine is open. */
function checkedOpen(engine: EmbeddedEngine | undefined): EmbeddedEngine {
  if (engine) return engine;
  throw new Error("The engine is not open yet.");
}

/** Commits check the files themselves: this is for an idle engine. */
function watchFiles(store: LocalStore): () => void {
  const look = () => {
    try {
      store.checkFiles();
    } catch {
      clearInterval(watch);
    }
  };
  const watch = setInterval(look, FILES_WATCHED_EVERY_MS).unref();
  return () => clearInterval(watch);
}

const FILES_WATCHED_EVERY_MS = 1_000;
