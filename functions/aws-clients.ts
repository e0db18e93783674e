import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { MAX_TASK_TIMEOUT_MS } from "./settings.ts";

// Connections are kept between calls, as the SDK does by default. Timeouts are set here, so that
// one lost packet does not cost a function all of its time.

const impatient = (requestTimeout: number) => ({
  requestHandler: { connectionTimeout: 1_000, requestTimeout, throwOnRequestTimeout: true },
});

/** Responds within milliseconds; writes are sent once, whatever `maxAttempts` says. */
export const dynamoDbClient = () => new DynamoDBClient({ ...impatient(3_000), maxAttempts: 3 });

export const sqsClient = () => new SQSClient({ ...impatient(3_000), maxAttempts: 3 });
export const schedulerClient = () => new SchedulerClient({ ...impatient(5_000), maxAttempts: 3 });
export const eventBridgeClient = () =>
  new EventBridgeClient({ ...impatient(5_000), maxAttempts: 3 });

export const secretsManagerClient = () =>
  new SecretsManagerClient({ ...impatient(3_000), maxAttempts: 3 });

/** Values may have megabytes. */
export const s3Client = () => new S3Client({ ...impatient(10_000), maxAttempts: 3 });

/** Called once: the API has 29 seconds for its response, and the function that compiles may need 25. */
export const compilerClient = () => new LambdaClient({ ...impatient(25_000), maxAttempts: 1 });

/** Without retries: a task that may have run is not run again implicitly. */
export const taskClient = () =>
  new LambdaClient({ ...impatient(MAX_TASK_TIMEOUT_MS), maxAttempts: 1 });
