import { Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { LogGroupProps } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { VARIABLES } from "../../functions/settings.ts";
import { wildcardFinding } from "../acknowledge.ts";
import type { FunctionName } from "../bundle.ts";
import type { FunctionCode } from "../function-code.ts";
import { grantSecrets, type HttpTaskProps, httpEnvironment } from "../http-tasks.ts";
import type { TaskQueues } from "../task-queues.ts";
import type { Elsewhere } from "../tasks.ts";
import type { BlobsBucket } from "./blobs-bucket.ts";
import { EngineFunction } from "./engine-function.ts";
import type { EngineQueues } from "./engine-queues.ts";
import type { InstanceTable } from "./instance-table.ts";
import type { SignalBus } from "./signal-bus.ts";
import { SweepRule } from "./sweep-rule.ts";
import { TIMEOUT_SECONDS } from "./timeouts.ts";
import type { TimerSchedules } from "./timer-schedules.ts";

/** The functions by role; `run-task` is deployed twice, for tasks that end soon and for the others. */
export const FUNCTION_ROLES = [
  "httpApi",
  "compile",
  "runTask",
  "runLongTask",
  "advance",
  "fireTimer",
  "fanOutSignal",
  "sweep",
  "deadLetters",
] as const;

export type FunctionRole = (typeof FUNCTION_ROLES)[number];

/** Those that queues trigger. */
export type WokenRole = Exclude<FunctionRole, "httpApi" | "compile" | "sweep">;

const isWoken = (role: FunctionRole): role is WokenRole =>
  role !== "httpApi" && role !== "compile" && role !== "sweep";

export type EngineFunctionsProps = Readonly<{
  code: FunctionCode;
  table: InstanceTable;
  queues: EngineQueues;
  bus: SignalBus;
  blobs: BlobsBucket;
  /** Absent where the wheel holds the timers. */
  schedules: TimerSchedules | undefined;
  /** Tasks that the user's own functions run. */
  elsewhere: Elsewhere;
  /** The user's own queues for tasks. */
  taskQueues: TaskQueues;
  /** Which hosts HTTP tasks may call. */
  http: HttpTaskProps;
  environment: Readonly<Record<string, string>>;
  encryptionKey: IKey | undefined;
  reservedConcurrency: Partial<Record<FunctionRole, number>>;
  maxConcurrency: Partial<Record<WokenRole, number>>;
  taskMemoryMb: number;
  /** Only calls trigger functions. */
  paused: boolean;
  logs: LogGroupProps;
}>;

type Spec = Readonly<{ code: FunctionName; does: string; memoryMb: number }>;

const specs = (taskMemoryMb: number): Readonly<Record<FunctionRole, Spec>> => ({
  httpApi: { code: "http-api", does: "Answers the API", memoryMb: 512 },
  compile: { code: "compile", does: "Compiles definitions", memoryMb: 1024 },
  runTask: { code: "run-task", does: "Runs tasks", memoryMb: taskMemoryMb },
  runLongTask: { code: "run-task", does: "Runs long tasks", memoryMb: taskMemoryMb },
  advance: { code: "advance", does: "Takes facts that waited", memoryMb: 256 },
  fireTimer: { code: "fire-timer", does: "Takes due timers", memoryMb: 256 },
  fanOutSignal: {
    code: "run-work",
    does: "Runs queued work: fan-outs, batches, offers of events",
    memoryMb: 256,
  },
  sweep: { code: "sweep", does: "Finds what is overdue", memoryMb: 256 },
  deadLetters: { code: "dead-letters", does: "Gives up on tasks", memoryMb: 256 },
});

/** All functions, with their triggers and permissions. */
export class EngineFunctions extends Construct {
  readonly byRole: Readonly<Record<FunctionRole, EngineFunction>>;
  readonly sweepRule: SweepRule;

  constructor(scope: Construct, id: string, props: EngineFunctionsProps) {
    super(scope, id);
    const compile = this.#create("compile", props, {});
    const environment = props.environment;
    const running = {
      ...environment,
      ...laterArns(this, props.elsewhere),
      ...httpEnvironment(this, props.http),
    };
    const create = (role: FunctionRole) => this.#create(role, props, environment);
    this.byRole = {
      compile,
      httpApi: this.#create("httpApi", props, {
        ...environment,
        [VARIABLES.compileFunction]: compile.fn.functionName,
      }),
      runTask: this.#create("runTask", props, running),
      runLongTask: this.#create("runLongTask", props, running),
      advance: create("advance"),
      fireTimer: create("fireTimer"),
      fanOutSignal: create("fanOutSignal"),
      sweep: create("sweep"),
      deadLetters: create("deadLetters"),
    };
    grantAll(this.byRole, props);
    wakeByQueues(this.byRole, props.queues, !props.paused);
    this.sweepRule = new SweepRule(this, "SweepRule", {
      sweep: this.byRole.sweep.fn,
      encryptionKey: props.encryptionKey,
      enabled: !props.paused,
    });
  }

  #create(
    role: FunctionRole,
    props: EngineFunctionsProps,
    environment: Readonly<Record<string, string>>,
  ): EngineFunction {
    const { code, does, memoryMb } = specs(props.taskMemoryMb)[role];
    return new EngineFunction(this, `${role.charAt(0).toUpperCase()}${role.slice(1)}`, {
      description: `Fermata: ${does.charAt(0).toLowerCase()}${does.slice(1)}`,
      code: props.code.of(code),
      timeout: Duration.seconds(TIMEOUT_SECONDS[role]),
      memoryMb,
      environment,
      reservedConcurrency: props.reservedConcurrency[role],
      maxConcurrency: isWoken(role) ? props.maxConcurrency[role] : undefined,
      logs: props.logs,
    });
  }
}

/** What is known only at deployment cannot be in a file; it goes into the environment. */
function laterArns(scope: Construct, { laterArns }: Elsewhere): Readonly<Record<string, string>> {
  if (Object.keys(laterArns).length === 0) return {};
  return { [VARIABLES.taskArns]: Stack.of(scope).toJsonString(laterArns) };
}

type ByRole = EngineFunctions["byRole"];

/** Whatever triggers a step, it may owe anything that the engine can do. */
function grantAll(byRole: ByRole, props: EngineFunctionsProps): void {
  const { httpApi, compile, sweep, runTask, runLongTask, ...waking } = byRole;
  for (const fn of [httpApi, runTask, runLongTask, ...Object.values(waking)]) {
    grantSteps(fn, props);
  }
  grantSweep(sweep, props);
  props.table.grantIndex(httpApi.role, "due");
  props.table.grantIndex(httpApi.role, "listing");
  props.blobs.grantErase(httpApi.role);
  allowInvoking(httpApi, [compile.fn.functionArn]);
  for (const running of [runTask, runLongTask]) {
    allowInvoking(running, props.elsewhere.arns);
    grantSecrets(running.role, props.http);
  }
  const sending = [httpApi, sweep, runTask, runLongTask, ...Object.values(waking)];
  for (const fn of sending) allowQueueing(fn, props.taskQueues);
  // The sweep moves tasks that were offered before their type had a queue.
  if (props.taskQueues.arns.length > 0) props.table.grantIndex(sweep.role, "listing");
}

function grantSteps(fn: EngineFunction, props: EngineFunctionsProps): void {
  const { table, queues, bus, blobs, schedules, encryptionKey } = props;
  table.grantSteps(fn.role);
  queues.grantSend(fn.role);
  bus.grantPublish(fn.role);
  blobs.grantBlobs(fn.role);
  schedules?.grantSchedule(fn.role);
  if (encryptionKey !== undefined) fn.allowKey(encryptionKey);
  acknowledgeWildcards(fn, props);
}

function acknowledgeWildcards(fn: EngineFunction, props: EngineFunctionsProps): void {
  const { blobs, schedules } = props;
  fn.acknowledge({
    ...wideReading(fn, blobs),
    ...(schedules !== undefined && {
      [wildcardFinding(fn, schedules.schedules())]:
        "Every timer is a schedule of its own; the group holds nothing else.",
    }),
  });
}

const wideReading = (fn: EngineFunction, blobs: BlobsBucket) => ({
  [wildcardFinding(fn, blobs.objects())]:
    "Values are named after their content; the bucket holds nothing else.",
});

/** The sweep reads, stores its progress, and sends; it runs no steps. */
function grantSweep(fn: EngineFunction, props: EngineFunctionsProps): void {
  const { table, queues, bus, blobs, encryptionKey } = props;
  table.grantSweep(fn.role);
  table.grantIndex(fn.role, "due");
  queues.grantSend(fn.role);
  bus.grantPublish(fn.role);
  blobs.grantRead(fn.role);
  if (encryptionKey !== undefined) fn.allowKey(encryptionKey);
  fn.acknowledge(wideReading(fn, blobs));
}

function allowInvoking({ role }: EngineFunction, resources: readonly string[]): void {
  if (resources.length === 0) return;
  const actions = ["lambda:InvokeFunction"];
  role.addToPrincipalPolicy(new PolicyStatement({ actions, resources: [...resources] }));
}

/** Sending to an encrypted queue needs its key. */
function allowQueueing({ role }: EngineFunction, { arns, keyArns }: TaskQueues): void {
  const grant = (actions: string[], resources: readonly string[]) => {
    if (resources.length === 0) return;
    role.addToPrincipalPolicy(new PolicyStatement({ actions, resources: [...resources] }));
  };
  grant(["sqs:GetQueueUrl", "sqs:SendMessage"], arns);
  grant(["kms:Decrypt", "kms:GenerateDataKey"], keyArns);
}

function wakeByQueues(byRole: ByRole, queues: EngineQueues, enabled: boolean): void {
  const { tasks, longTasks, timers, work, steps } = queues;
  byRole.runTask.consume("Tasks", tasks, { batchSize: 10, enabled });
  // A message is deleted only when its whole batch has ended: long ones are delivered one by one.
  byRole.runLongTask.consume("LongTasks", longTasks, { batchSize: 1, enabled });
  byRole.fireTimer.consume("Timers", timers, { batchSize: 10, enabled });
  byRole.fanOutSignal.consume("Pages", work, { batchSize: 5, enabled });
  byRole.advance.consume("Steps", steps, { batchSize: 10, enabled });
  const both = { batchSize: 10, enabled, queues: 2 };
  byRole.deadLetters.wakeBy("Tasks", tasks.deadLetters, both);
  byRole.deadLetters.wakeBy("LongTasks", longTasks.deadLetters, both);
}
