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
  /** Set where somebody wants to hold concurrency back; small accounts have none to reserve. */
  reservedConcurrency: number | undefined;
  /** How often it may run at the same time for its queues; what is reserved unless said, or 100. */
  maxConcurrency: number | undefined;
  logs: LogGroupProps;
}>;

/**
 * How many messages are handed over at once, at the most, and whether any are. `queues` is how many
 * queues share the function.
 */
type Batch = Readonly<{ batchSize: number; enabled: boolean; queues?: number }>;

/**
 * How often a function runs at the same time for its queues unless somebody says otherwise. All of
 * them together leave 400 of the 1,000 that an account has to the API and to other functions.
 */
const DEFAULT_CONCURRENCY = 100;

/** What an event source can be held to. */
const MIN_CONCURRENCY = 2;
const MAX_CONCURRENCY = 1_000;

/** One function with a role of its own, which may write its own log and what it is granted. */
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
      // Lambda's own lines tell the beginning and the end of every invocation, which the metrics tell
      // as well: they would be most of the log, and of its bill.
      systemLogLevelV2: SystemLogLevel.WARN,
      // A step that queues the next one is how a workflow goes on. Lambda would take it for a loop,
      // and stop it after some 16 steps.
      recursiveLoop: RecursiveLoop.ALLOW,
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
    });
  }

  /** Gives the function a queue's work, and the place for messages that nobody can read. */
  consume(id: string, { queue, deadLetters }: EngineQueue, batch: Batch): void {
    this.wakeBy(id, queue, batch);
    deadLetters.grantSend(this.role);
    this.fn.addEnvironment(VARIABLES.deadLettersQueueUrl, deadLetters.queueUrl);
  }

  /** Wakes the function for messages of a queue; each is reported on for itself. */
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
   * Without a bound a flood of messages takes the whole account's concurrency. And pollers know
   * nothing of what is reserved: what they bring beyond it is throttled, and a message that was
   * throttled ten times is a dead letter which nobody has ever looked at.
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

  /** Says why the function's permissions are meant to be as wide as they are. */
  acknowledge(reasons: Readonly<Record<string, string>>): void {
    acknowledge(this.role.node.findChild("DefaultPolicy"), reasons);
  }

  /** What reading and writing with the user's own key takes, in the table, the queues and the bucket. */
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
