/**
 * The one place where adapters are chosen and built, once for each start of a function. A function
 * gets what it needs and no more: what is not named here is not in its bundle.
 */

import { DynamoDbStore } from "../lib/adapters/dynamodb/store.ts";
import { EventBridgeBus } from "../lib/adapters/eventbridge/bus.ts";
import { feelExpressions } from "../lib/adapters/feelin/feel-expressions.ts";
import { realClock } from "../lib/adapters/node/clock.ts";
import { nodeIds } from "../lib/adapters/node/ids.ts";
import { S3Blobs } from "../lib/adapters/s3/blobs.ts";
import { SchedulerTimers } from "../lib/adapters/scheduler/timers.ts";
import { wheelTimers } from "../lib/adapters/scheduler/wheel-timers.ts";
import { unpackMessage } from "../lib/adapters/sqs/body.ts";
import { SqsOwnQueues } from "../lib/adapters/sqs/own-queues.ts";
import { SqsParking } from "../lib/adapters/sqs/parking.ts";
import { SqsTasks } from "../lib/adapters/sqs/tasks.ts";
import { TimerQueue } from "../lib/adapters/sqs/timer-queue.ts";
import { SqsWorkQueue } from "../lib/adapters/sqs/work-queue.ts";
import { createEngine, type Engine } from "../lib/engine/engine.ts";
import { type HostWorld, MANY_PROCESSES } from "../lib/engine/world.ts";
import { graphRunner } from "../lib/kernel/graph/graph-runner.ts";
import type { Clock } from "../lib/ports/clock.ts";
import type { TaskHandler } from "../lib/ports/tasks.ts";
import type { Timers } from "../lib/ports/timers.ts";
import {
  dynamoDbClient,
  eventBridgeClient,
  s3Client,
  schedulerClient,
  sqsClient,
} from "./aws-clients.ts";
import { countUnits } from "./counted-units.ts";
import type { Workbench } from "./middleware/batch.ts";
import { type Powertools, powertools } from "./middleware/powertools.ts";
import { currentTraceparent } from "./middleware/trace.ts";
import { observed } from "./observed-world.ts";
import { type FunctionSettings, parseSettings } from "./settings.ts";
import { sqsSourceQueue } from "./sqs-source-queue.ts";
import { traceMessages } from "./traced-messages.ts";

/** An engine in Lambda, and what a function needs beside it. */
export type Composition = Readonly<{
  engine: Engine;
  telemetry: Powertools;
  bench: Workbench;
  settings: EngineSettings;
}>;

export type CompositionOptions = Readonly<{
  env: NodeJS.ProcessEnv;
  /** The function, by the name of its folder. */
  service: string;
  handlers: ReadonlyMap<string, TaskHandler>;
  /** Aborts the handlers of a ticket that are running in this function. */
  stop?: (instanceId: string, ticket: string) => void;
  /** None where nothing is deployed. */
  compilers?: HostWorld["compilers"];
  /** Whether there is a queue for unreadable messages. */
  setsAside?: boolean;
}>;

/** An engine on the services that the environment names. */
export function composeEngine(options: CompositionOptions): Composition {
  const { env, service, handlers, stop, compilers = {}, setsAside = false } = options;
  const settings = engineSettings(env, setsAside);
  const { deadLettersQueueUrl: deadLettersUrl } = settings;
  const telemetry = powertools({ service, namespace: settings.metricsNamespace });
  const clock = realClock();
  const ids = nodeIds();
  const sqs = traceMessages(sqsClient());
  const blobs = new S3Blobs({ client: s3Client(), bucket: settings.blobsBucket });
  const queues = { tasks: settings.tasksQueueUrl, longTasks: settings.longTasksQueueUrl };
  const world: HostWorld = {
    store: new DynamoDbStore({
      client: countUnits(dynamoDbClient(), telemetry),
      table: settings.table,
    }),
    parking: new SqsParking({ client: sqs, queueUrl: settings.stepsQueueUrl, ids, blobs }),
    tasks: new SqsTasks({ client: sqs, queues, handlers, blobs, clock, ...(stop && { stop }) }),
    timers: timersOf(env, settings, {
      queue: new TimerQueue({ client: sqs, queueUrl: settings.timersQueueUrl }),
      clock,
    }),
    bus: new EventBridgeBus({
      client: eventBridgeClient(),
      busName: settings.busName,
      announces: settings.announces,
      clock,
      traceparent: currentTraceparent,
    }),
    workQueue: new SqsWorkQueue({ client: sqs, queueUrl: settings.workQueueUrl, blobs }),
    ...(settings.taskQueues.length > 0 && {
      ownQueues: new SqsOwnQueues({ client: sqs, allowed: settings.taskQueues }),
    }),
    blobs,
    clock,
    ids,
    expressions: feelExpressions(),
    compilers,
    runners: { graph: graphRunner },
    settings: {
      tenant: settings.tenant,
      retentionMs: settings.retentionMs,
      host: MANY_PROCESSES,
    },
  };
  const queue = sqsSourceQueue({
    client: sqs,
    ids,
    siblingUrl: settings.tasksQueueUrl,
    timersUrl: settings.timersQueueUrl,
    ...(deadLettersUrl !== undefined && { deadLettersUrl }),
  });
  return {
    engine: createEngine(observed(world, telemetry)),
    telemetry,
    bench: { read: (body) => unpackMessage(body, blobs), queue, clock, ids, telemetry },
    settings,
  };
}

type EngineSettings = Pick<FunctionSettings, (typeof ALWAYS)[number]> &
  Pick<Partial<FunctionSettings>, "deadLettersQueueUrl">;

/** Everything at once, so that one error names all that is missing. */
function engineSettings(env: NodeJS.ProcessEnv, setsAside: boolean): EngineSettings {
  const { timerBackend } = parseSettings(env, "timerBackend");
  const scheduled = timerBackend === "scheduler" ? WITH_SCHEDULES : [];
  const aside = setsAside ? (["deadLettersQueueUrl"] as const) : [];
  return parseSettings(env, ...ALWAYS, ...scheduled, ...aside);
}

const ALWAYS = [
  "table",
  "tasksQueueUrl",
  "longTasksQueueUrl",
  "timersQueueUrl",
  "workQueueUrl",
  "stepsQueueUrl",
  "busName",
  "blobsBucket",
  "taskQueues",
  "tenant",
  "retentionMs",
  "timerBackend",
  "timerQueueMaxSeconds",
  "announces",
  "metricsNamespace",
] as const;

const WITH_SCHEDULES = [
  "timersQueueArn",
  "scheduleGroup",
  "scheduleRoleArn",
  "scheduleDeadLettersArn",
  "scheduleLeadSeconds",
] as const;

function timersOf(
  env: NodeJS.ProcessEnv,
  { timerBackend, timerQueueMaxSeconds: queueMaxSeconds }: EngineSettings,
  { queue, clock }: Readonly<{ queue: TimerQueue; clock: Clock }>,
): Timers {
  if (timerBackend === "wheel") return wheelTimers({ queue, clock, queueMaxSeconds });
  const schedules = parseSettings(env, ...WITH_SCHEDULES);
  return new SchedulerTimers({
    client: schedulerClient(),
    group: schedules.scheduleGroup,
    roleArn: schedules.scheduleRoleArn,
    queueArn: schedules.timersQueueArn,
    deadLettersArn: schedules.scheduleDeadLettersArn,
    leadSeconds: schedules.scheduleLeadSeconds,
    queueMaxSeconds,
    queue,
    clock,
    traceparent: currentTraceparent,
  });
}
