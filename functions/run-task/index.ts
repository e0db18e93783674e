import { HandlerRuns } from "../../lib/adapters/handlers/handler-runs.ts";
import { realClock } from "../../lib/adapters/node/clock.ts";
import { composeEngine } from "../composition.ts";
import { parseSettings } from "../settings.ts";
import { queueName } from "../sqs-source-queue.ts";
import { loadTaskModule, readManifest } from "../task-manifest.ts";
import { runTask } from "./handler.ts";
import { httpHandlers } from "./http-handlers.ts";
import { taskHandlers } from "./task-handlers.ts";

const runs = new HandlerRuns();
const clock = realClock();
const { taskArns: arns, ...http } = parseSettings(
  process.env,
  "taskArns",
  "httpAllowHosts",
  "httpAllowPrivate",
  "httpSecrets",
);
const bundled = await loadTaskModule();
const builtIn = httpHandlers(http, { runs, clock });

const { engine, bench, telemetry, settings } = composeEngine({
  env: process.env,
  service: "run-task",
  handlers: taskHandlers({ manifest: readManifest(), bundled, arns, builtIn, runs, clock }),
  stop: (instanceId, ticket) => runs.stop(instanceId, ticket),
  setsAside: true,
});

export const handler = telemetry.told(
  runTask(engine, {
    bench,
    isLong: (record) => settings.longTasksQueueUrl.endsWith(`/${queueName(record)}`),
  }),
);
