import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, EventBridgeServiceException } from "@aws-sdk/client-eventbridge";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { httpApi } from "../../functions/http-api/handler.ts";
import { DynamoDbStore } from "../../lib/adapters/dynamodb/store.ts";
import { EventBridgeBus } from "../../lib/adapters/eventbridge/bus.ts";
import { remoteCompiler } from "../../lib/adapters/lambda/compiler.ts";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import { S3Blobs } from "../../lib/adapters/s3/blobs.ts";
import { SchedulerTimers } from "../../lib/adapters/scheduler/timers.ts";
import { SecretsManagerSecrets } from "../../lib/adapters/secrets-manager/secrets.ts";
import { SimulatedBlobs } from "../../lib/adapters/simulated/blobs.ts";
import { SqsOwnQueues } from "../../lib/adapters/sqs/own-queues.ts";
import { SqsParking } from "../../lib/adapters/sqs/parking.ts";
import { SqsTasks } from "../../lib/adapters/sqs/tasks.ts";
import { TimerQueue } from "../../lib/adapters/sqs/timer-queue.ts";
import { SqsWorkQueue } from "../../lib/adapters/sqs/work-queue.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { fakeEngine } from "../support/fake-engine.ts";
import { anHttpEvent } from "../support/gateway-event.ts";
import { ManualTime } from "../support/manual-time.ts";
import { aContext, HeardTelemetry } from "../support/queue-events.ts";

const SAID =
  "User: arn:aws:sts::123456789012:assumed-role/TheRole/fn is not authorized to perform: any:Call " +
  "on resource: arn:aws:any:eu-central-1:123456789012:thing (RequestId: 9f1c-raw)";
/** What no caller may see: the messages of AWS, and internal names. */
const INSIDE = [/arn:aws/, /123456789012/, /TheRole/, /not authorized/, /9f1c-raw/, /inner-/];

const failure = new EventBridgeServiceException({
  name: "AccessDeniedException",
  message: SAID,
  $fault: "client",
  $metadata: { httpStatusCode: 400, requestId: "9f1c-raw" },
});

const settings = {
  region: "eu-central-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
};

/** A client to which AWS gives the same response for any request. */
function refused<C extends Client>(client: C): C {
  client.middlewareStack.add(() => () => Promise.reject(failure), { step: "initialize" });
  return client;
}

type Client = {
  middlewareStack: {
    add(middleware: () => () => Promise<never>, options: { step: "initialize" }): void;
  };
};

const sqs = refused(new SQSClient(settings));
const blobs = new SimulatedBlobs();
const clock = new ManualTime();
const queueUrl = "https://sqs.eu-central-1.amazonaws.com/123456789012/inner-queue";
const store = new DynamoDbStore({
  client: refused(new DynamoDBClient(settings)),
  table: "inner-table",
});
const bucket = new S3Blobs({ client: refused(new S3Client(settings)), bucket: "inner-bucket" });
const key = { pk: "p", sk: "s" };
const ofTask = { tenant: "default", instanceId: "one", ticket: "k1.1" };
const OWN = "arn:aws:sqs:eu-central-1:123456789012:inner-own";
const own = new SqsOwnQueues({ client: sqs, allowed: [OWN] });

const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["the table, read", () => store.get([key])],
  ["the table, written", () => store.commit([{ remove: key, when: "exists" }])],
  ["the bucket, read", () => bucket.get("inner-object")],
  ["the bucket, written", () => bucket.put("inner-object", Buffer.from("x"))],
  [
    "the queue of tasks",
    () =>
      new SqsTasks({
        client: sqs,
        queues: { tasks: queueUrl, longTasks: queueUrl },
        handlers: new Map(),
        blobs,
        clock,
      }).send({ kind: "task", ...ofTask, attempt: 1, type: "work" }),
  ],
  [
    "the queue of steps",
    () =>
      new SqsParking({ client: sqs, queueUrl, ids: nodeIds(), blobs }).park({
        kind: "owed",
        tenant: "default",
        instanceId: "one",
        name: "k1.1",
      }),
  ],
  [
    "the work queue",
    () =>
      new SqsWorkQueue({ client: sqs, queueUrl, blobs }).send({
        kind: "broadcast",
        tenant: "default",
        broadcastId: "b1",
      }),
  ],
  [
    "the queue of timers",
    () => new TimerQueue({ client: sqs, queueUrl }).send({ kind: "timer", ...ofTask }, 0),
  ],
  [
    "the scheduler",
    () =>
      new SchedulerTimers({
        client: refused(new SchedulerClient(settings)),
        group: "inner-group",
        roleArn: "arn:aws:iam::123456789012:role/inner-role",
        queueArn: OWN,
        deadLettersArn: OWN,
        leadSeconds: 90,
        queueMaxSeconds: 900,
        queue: { send: async () => {} },
        clock,
      }).arm({ ...ofTask, dueAt: instantFrom(clock.now() + 86_400_000), covered: true }),
  ],
  [
    "the bus",
    () =>
      new EventBridgeBus({
        client: refused(new EventBridgeClient(settings)),
        busName: "inner-bus",
        announces: false,
        clock,
      }).publish({
        tenant: "default",
        broadcastId: "b1",
        topic: { kind: "signal", name: "go" },
        seq: 1,
        at: instantFrom(5),
      }),
  ],
  [
    "the compiler",
    () => {
      const client = refused(new LambdaClient(settings));
      return remoteCompiler({ client, functionName: "inner-compile", notation: "bpmn" })("<xml/>");
    },
  ],
  [
    "Secrets Manager",
    () => {
      const client = refused(new SecretsManagerClient(settings));
      return new SecretsManagerSecrets({ client, places: { KEY: { arn: OWN } }, clock }).valueOf(
        "KEY",
      );
    },
  ],
];

describe("the message of an AWS error", () => {
  test.each(calls)("is in the log, and not in the response: %s", async (_, call) => {
    const telemetry = new HeardTelemetry();
    const { engine } = fakeEngine({
      get: async () => {
        await call();
        throw new Error("AWS has not refused it");
      },
    });

    const answer = await httpApi(engine, { clock, ids: nodeIds(), telemetry })(
      anHttpEvent({ rawPath: "/v1/instances/one" }),
      aContext(),
    );

    expect(answer.statusCode).toBe(503);
    const { errorId, code } = JSON.parse(answer.body ?? "");
    for (const inside of INSIDE) expect(answer.body).not.toMatch(inside);
    const [line] = telemetry.lines;
    expect(line).toMatchObject({
      level: "error",
      name: "request-failed",
      fields: {
        errorId,
        code,
        status: 503,
        requestId: "JKJaXmPLvHcESHA=",
        route: "GET /v1/instances/{instanceId}",
      },
    });
    expect(saidIn(line?.fields.error)).toContain(SAID);
  });

  test("is not in any response about a user's own queue", async () => {
    const problem = await own.problemOf(OWN);

    for (const inside of INSIDE) expect(problem).not.toMatch(inside);
    expect(problem).toBe("SQS answers AccessDeniedException");
  });
});

/** What an error says, and what it was caused by. */
function saidIn(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${saidIn(error.cause)}` : "";
}
