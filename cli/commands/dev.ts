import { setTimeout } from "node:timers/promises";
import type { EmbeddedEngine, HttpOptions, TrailNews } from "../../lib/embedded/index.ts";
import { command } from "../command.ts";
import { type DevLog, logAsJson, logInWords } from "../dev/dev-log.ts";
import {
  type CodeExample,
  deployExample,
  type Example,
  findCodeExamples,
  findExamples,
  startExamples,
} from "../dev/example.ts";
import { httpOptions } from "../dev/http-options.ts";
import { outsideWaitTeller } from "../dev/outside-waits.ts";
import { stopSignal } from "../dev/stop-signal.ts";
import { reloadTeller } from "../dev/tell-reload.ts";
import { diagnosticLine } from "../diagnostic-line.ts";
import { EXIT } from "../exit-code.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { programName } from "../program-name.ts";
import { UsageError } from "../usage-error.ts";

/** Runs the whole engine in this process, with its HTTP API, until it is stopped. */
export const dev = command({
  name: "dev",
  summary: "run the engine here, durable on disk, with its HTTP API",
  operands: [],
  options: {
    port: { type: "string", value: "PORT", help: "default 7373; 0 picks a free port" },
    host: {
      type: "string",
      value: "HOST",
      help: "default 127.0.0.1; a host that other machines can reach needs a token",
    },
    token: {
      type: "string",
      value: "TOKEN",
      help: "the bearer token that calls must send; default FERMATA_TOKEN",
    },
    data: {
      type: "string",
      value: "FOLDER",
      help: "the data folder; default .fermata/data",
    },
    clock: {
      type: "string",
      value: "real|virtual",
      help: "virtual: time moves only with POST /v1/clock/advance",
    },
    retention: {
      type: "string",
      value: "DURATION",
      help: "how long ended instances are kept; default P30D, at least P15D",
    },
    tasks: {
      type: "string",
      value: "FOLDER",
      multiple: true,
      help: "task handlers, one file per type; can be repeated",
    },
    workflows: {
      type: "string",
      value: "FOLDER|FILE",
      multiple: true,
      help: "workflows in TypeScript, deployed at start with their steps; can be repeated",
    },
    "accept-code": {
      type: "boolean",
      help: "take workflows in code over HTTP also on a host other than loopback",
    },
    "http-allow": {
      type: "string",
      value: "HOST",
      multiple: true,
      help: "the only hosts that HTTP tasks may call; default any public host over https",
    },
    "http-private": {
      type: "string",
      value: "HOST",
      multiple: true,
      help: "a host that HTTP tasks may call although it is not public, such as http://localhost:8080",
    },
    secret: {
      type: "string",
      value: "NAME=HOST,…",
      multiple: true,
      help: "the hosts that secret:NAME may be sent to; FERMATA_SECRET_NAME is its value",
    },
    "accept-loss": {
      type: "boolean",
      help: "open a data folder whose log has lost commits, and continue without them",
    },
    "no-examples": { type: "boolean", help: "do not deploy and start the examples" },
    steps: { type: "boolean", help: "show the steps of every instance, not only the examples'" },
  },
  notes: [
    "In the repository it also deploys the examples, starts two (examples/approval in BPMN and",
    "examples/order-code in TypeScript) and shows the steps of all of them. The published package",
    "has no examples. On SIGTERM and SIGINT running steps finish; a second signal stops at once.",
    "With --json every line is a JSON object with an `event`.",
  ].join("\n"),
  run: async ({ values, terminal }) => {
    const log = values.json ? logAsJson(terminal) : logInWords(terminal);
    const token = values.token ?? terminal.environment.FERMATA_TOKEN;
    await runEngine(
      {
        host: values.host ?? "127.0.0.1",
        port: parseWholeNumber(values.port ?? "7373", { option: "port", min: 0, max: 65_535 }),
        ...(token ? { token } : {}),
        dataDir: values.data ?? ".fermata/data",
        clock: parseClock(values.clock ?? "real"),
        ...(values.retention !== undefined && { retention: values.retention }),
        tasks: values.tasks ?? [],
        workflows: values.workflows ?? [],
        acceptCode: values["accept-code"] ?? isLoopback(values.host ?? "127.0.0.1"),
        http: httpOptions({
          allow: values["http-allow"],
          private: values["http-private"],
          secrets: values.secret,
        }),
        acceptLoss: values["accept-loss"] ?? false,
        examples: values["no-examples"] ? [] : findExamples(),
        codeExamples: values["no-examples"] ? [] : findCodeExamples(),
        showAll: values.steps ?? false,
        program: programName(terminal),
      },
      log,
    );
    // Open requests that wait for the end of an instance would keep the process alive for a while.
    process.exit(EXIT.ok);
  },
});

type DevSettings = Readonly<{
  host: string;
  port: number;
  token?: string;
  dataDir: string;
  clock: "real" | "virtual";
  retention?: string;
  tasks: readonly string[];
  workflows: readonly string[];
  acceptCode: boolean;
  http: HttpOptions;
  acceptLoss: boolean;
  /** The first of them is started. */
  examples: readonly Example[];
  /** All of them are started. */
  codeExamples: readonly CodeExample[];
  showAll: boolean;
  /** How the reader calls `fermata`. */
  program: string;
}>;

/** How long open requests may take after the engine is asked to stop. */
const ANSWERING_MS = 2_000;

async function runEngine(settings: DevSettings, log: DevLog): Promise<void> {
  const stopped = stopSignal();
  exitWhenUncaught(log);
  const { examples, codeExamples, dataDir, clock, retention, host, port, token } = settings;
  // Loading the engine takes time; commands that only call a server do not need it.
  const { openEngine, serveEngine } = await import("../../lib/embedded/index.ts");
  const watch = stepWatch(settings, log);
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {}); // it may reject before or after it is awaited
  const engine = await openEngine({
    dataDir,
    clock,
    ...(retention !== undefined && { retention }),
    http: settings.http,
    tasks: [...settings.tasks, ...examples.map(({ tasks }) => tasks)],
    workflows: [...settings.workflows, ...codeExamples.map(({ workflows }) => workflows)],
    ...(settings.workflows.length + settings.tasks.length > 0 && {
      onReload: reloadTeller(log.note),
    }),
    onWarning: (warning) => log.note(diagnosticLine("workflows", warning)),
    onTrail: watch.see,
    acceptLoss: settings.acceptLoss,
    onTrouble: log.trouble,
    onStopped: lost.reject,
  });
  try {
    const server = await serveEngine(engine, {
      host,
      port,
      ...(token !== undefined && { token }),
      acceptCode: settings.acceptCode,
      onUnexpected: (id, error, { status, code, route }) =>
        log.trouble(`${route} returned ${status} ${code} (${id}): ${traceOf(error)}`),
    });
    try {
      for (const example of examples) await deployExample(engine, example);
      log.ready({ url: server.url, dataDir, clock });
      await tellRecovery(engine, log);
      watch.tellOutside(engine, { url: server.url, ...(token !== undefined && { token }) });
      await showExamples(engine, settings, log);
      log.note(
        `Stopping on ${await Promise.race([stopped, lost.promise])}: running steps finish first.`,
      );
    } finally {
      await Promise.race([server.close(), setTimeout(ANSWERING_MS, undefined, { ref: false })]);
    }
  } finally {
    await engine.close();
  }
}

/** Starts examples, one in each notation, and introduces them. */
async function showExamples(
  engine: EmbeddedEngine,
  { examples, codeExamples }: DevSettings,
  log: DevLog,
): Promise<void> {
  const shown = [...examples.slice(0, 1), ...codeExamples];
  if (shown.length === 0) return;
  await startExamples(engine, shown, (instanceIds) =>
    log.note(
      `Examples in BPMN and in TypeScript start as ${instanceIds.join(" and ")}. Their steps, as they happen:`,
    ),
  );
}

/** Reports the recovery of a data folder that already has definitions. */
async function tellRecovery(engine: EmbeddedEngine, log: DevLog): Promise<void> {
  const { items, nextCursor } = await engine.definitions({ limit: 200 });
  if (items.length === 0) return;
  const count = items.reduce((sum, { live }) => sum + live.count, 0);
  const more = nextCursor !== undefined || items.some(({ live }) => live.more);
  log.recovered({ live: { count, more }, ...(await engine.recovered) });
}

/** Logs the steps of the instances that should be shown. */
function stepWatch({ examples, codeExamples, showAll, program }: DevSettings, log: DevLog) {
  const shown = new Set([...examples, ...codeExamples].map(({ definitionId }) => definitionId));
  let tellOutside: (news: TrailNews) => Promise<void> = async () => {};
  return {
    see: (news: TrailNews): void => {
      if (!showAll && !shown.has(news.definitionId)) return;
      log.step(news);
      tellOutside(news).catch((error: unknown) => log.trouble(traceOf(error)));
    },
    tellOutside: (engine: EmbeddedEngine, server: Readonly<{ url: string; token?: string }>) => {
      tellOutside = outsideWaitTeller(engine, { program, server }, log.note);
    },
  };
}

/** A promise that a task handler does not await may reject later, where no step can catch it. */
function exitWhenUncaught(log: DevLog): void {
  process.on("uncaughtException", (error) => {
    log.trouble(
      `An error occurred outside of any step, perhaps in a promise that a task handler did not await. Nothing acknowledged is lost: fix the error and start again. ${traceOf(error)}`,
    );
    process.exit(EXIT.refused);
  });
}

/** Only this machine can reach it. */
const isLoopback = (host: string): boolean => /^(localhost|::1|127(\.\d+){3})$/.test(host);

function parseClock(text: string): "real" | "virtual" {
  if (text === "real" || text === "virtual") return text;
  throw new UsageError(`--clock is "${text}", but must be real or virtual.`);
}

function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
