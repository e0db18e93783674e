import { type Duration, RemovalPolicy } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import {
  ApplicationLogLevel,
  Architecture,
  type Code,
  EventSourceMapping,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, type LogGroupProps } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { VARIABLES } from "../../functions/settings.ts";
import { acknowledge } from "../acknowledge.ts";
import type { EngineQueue } from "./engine-queue.ts";
import type { SecuredQueue } from "./secured-queue.ts";

export type EngineFunctionProps = Readonly<{
  description: string;
  code: Code;
  timeout: Duration;
  memoryMb: number;
  environment: Readonly<Record<string, string>>;
  /** Reserved concurrency; small accounts have none to reserve. */
  reservedConcurrency: number | undefined;
  /** The most concurrent invocations for its queues; by default what is reserved, or 100. */
  maxConcurrency: number | undefined;
  logs: LogGroupProps;
}>;

/**
 * The largest batch of messages, and whether the queue triggers the function at all. `queues` is
 * how many queues share the function.
 */
type Batch = Readonly<{ batchSize: number; enabled: boolean; queues?: number }>;

/**
 * The default of concurrent invocations of a function for its queues. All of them together leave
 * 400 of the 1,000 that an account has to the API and to other functions.
 */
const DEFAULT_CONCURRENCY = 100;

/** The range of an event source's limit. */
const MIN_CONCURRENCY = 2;
const MAX_CONCURRENCY = 1_000;

/** One function with its own role, which may write its own log and do what it is granted. */
export class EngineFunction extends Construct {
  readonly fn: LambdaFunction;
  readonly role: Role;
  readonly #props: Pick<EngineFunctionProps, "reservedConcurrency" | "maxConcurrency">;

  constructor(scope: Construct, id: string, props: EngineFunctionProps) {
    super(scope, id);
    this.#props = props;
    const logGroup = new LogGroup(this, "Log", {
      removalPolicy: RemovalPolicy.DESTROY,
      ...props.logs,
    });
    this.role = new Role(this, "Role", {
      description: props.description,
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
    });
    this.role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
        resources: [logGroup.logGroupArn],
      }),
    );
    this.fn = new LambdaFunction(this, "Function", {
      description: props.description,
      code: props.code,
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: props.timeout,
      memorySize: props.memoryMb,
      environment: { ...props.environment },
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      // Lambda's own lines report the start and end of every invocation, which the metrics show as
      // well: they would be most of the log, and of its cost.
      systemLogLevelV2: SystemLogLevel.WARN,
      // A workflow continues by steps that queue the next one. Lambda would take that for a loop,
      // and stop it after some 16 steps.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
    });
  }

  /** Makes the function read a queue, with that queue's dead letters for unreadable messages. */
  consume(id: string, { queue, deadLetters }: EngineQueue, batch: Batch): void {
    this.wakeBy(id, queue, batch);
    deadLetters.grantSend(this.role);
    this.fn.addEnvironment(VARIABLES.deadLettersQueueUrl, deadLetters.queueUrl);
  }

  /** Triggers the function for messages of a queue, with partial batch responses. */
  wakeBy(id: string, queue: SecuredQueue, { batchSize, enabled, queues = 1 }: Batch): void {
    queue.grantConsume(this.role);
    new EventSourceMapping(this, id, {
      target: this.fn,
      eventSourceArn: queue.queueArn,
      batchSize,
      enabled,
      reportBatchItemFailures: true,
      ...this.#heldTo(queues),
    });
  }

  /**
   * Without a limit a flood of messages takes the whole account's concurrency. And pollers ignore
   * reserved concurrency: messages beyond it are throttled, and one that was throttled ten times
   * becomes a dead letter although it was never handled.
   */
  #heldTo(queues: number): { maxConcurrency: number } {
    const { reservedConcurrency = Number.POSITIVE_INFINITY, maxConcurrency } = this.#props;
    const usual = this.#props.reservedConcurrency ?? DEFAULT_CONCURRENCY;
    const most = Math.min(maxConcurrency ?? usual, reservedConcurrency);
    const each = Math.floor(most / queues);
    if (each >= MIN_CONCURRENCY) return { maxConcurrency: Math.min(each, MAX_CONCURRENCY) };
    const name = most === reservedConcurrency ? "reservedConcurrency" : "maxConcurrency";
    throw new Error(
      `${this.node.id} is woken by queues: its ${name} is ${most}, and has to be ` +
        `at least ${MIN_CONCURRENCY * queues}. To stop an installation, use \`paused\`.`,
    );
  }

  /** Acknowledges why the function's permissions are as wide as they are. */
  acknowledge(reasons: Readonly<Record<string, string>>): void {
    acknowledge(this.role.node.findChild("DefaultPolicy"), reasons);
  }

  /** Lets the function use the user's own key, for the table, the queues and the bucket. */
  allowKey(key: IKey): void {
    this.role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: [
          "kms:Decrypt",
          "kms:DescribeKey",
          "kms:Encrypt",
          "kms:GenerateDataKey",
          "kms:ReEncryptFrom",
          "kms:ReEncryptTo",
        ],
        resources: [key.keyArn],
      }),
    );
  }
}
