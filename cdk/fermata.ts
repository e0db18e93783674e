import { Annotations, Duration, Names, RemovalPolicy } from "aws-cdk-lib";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { type LogGroupProps, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Auth, Cors, Throttle } from "./api-access.ts";
import { BlobsBucket } from "./constructs/blobs-bucket.ts";
import {
  EngineFunctions,
  type FunctionRole,
  type WokenRole,
} from "./constructs/engine-functions.ts";
import { EngineQueues } from "./constructs/engine-queues.ts";
import { EngineHttpApi } from "./constructs/http-api.ts";
import { InstanceTable, type Throughput } from "./constructs/instance-table.ts";
import { EngineRestApi } from "./constructs/rest-api.ts";
import type { DeadLetterQueue } from "./constructs/secured-queue.ts";
import { SignalBus } from "./constructs/signal-bus.ts";
import { TimerSchedules } from "./constructs/timer-schedules.ts";
import { allowServicesToUse } from "./encryption.ts";
import { environmentOf } from "./environment.ts";
import { FunctionCode } from "./function-code.ts";
import type { HttpTaskProps } from "./http-tasks.ts";
import { type AlarmOptions, Observability } from "./observability/observability.ts";
import { VERBS, type Verb } from "./routes.ts";
import { taskQueuesOf } from "./task-queues.ts";
import { declaredElsewhere, foldersOf, type TasksProps } from "./tasks.ts";

/** The settings of an installation; all have safe defaults. */
export type FermataProps = Readonly<{
  /** How callers authenticate; `{ kind: "iam" }` by default. */
  auth?: Auth;
  /** The tasks that this installation runs itself. */
  tasks?: TasksProps;
  /**
   * Which hosts tasks of the type `fermata:http` may call, and with which secrets; public hosts by
   * default.
   */
  http?: HttpTaskProps;
  /** What happens to table and bucket when the stack is deleted; they are retained by default. */
  removalPolicy?: RemovalPolicy;
  /** Encrypts table, queues, bucket, bus and logs; keys of AWS by default. */
  encryptionKey?: IKey;
  /** Lets web pages call; none by default. */
  cors?: Cors;
  /** How long ended instances and their history are kept; 30 days by default, at least 15. */
  retention?: Duration;
  /** How long logs are kept; a month by default. */
  logRetention?: RetentionDays;
  /** Alarms and a dashboard in a stack of their own, which `"off"` leaves out. */
  alarms?: AlarmOptions | "off";
  /**
   * Reserves concurrency for single functions, which is also their limit. At least 2 for each queue
   * that triggers one; small accounts have none to reserve.
   */
  reservedConcurrency?: Partial<Record<FunctionRole, number>>;
  /**
   * The most concurrent invocations of functions that queues trigger; 100 each, or what is reserved
   * for them. At least 2 for each queue that triggers one.
   */
  maxConcurrency?: Partial<Record<WokenRole, number>>;
  /**
   * What holds timers beyond the longest queue delay: EventBridge Scheduler, or the wheel for
   * masses of them.
   */
  timers?: "scheduler" | "wheel";
  /** Announces ends and incidents of instances on the bus. */
  announce?: boolean;
  /** Timers that are due sooner than this go by queue; 900, the longest delay of SQS. */
  timerQueueMaxSeconds?: number;
  /** How long before it is due a schedule fires, since Scheduler is up to a minute late; 90. */
  scheduleLeadSeconds?: number;
  /** The kind of API; `"rest"` only for endpoints that have no HTTP APIs. */
  api?: "http" | "rest";
  /** The rate limit of calls; 500 a second, 1,000 at once. */
  throttle?: Throttle;
  /**
   * The most reads and writes of the table per second, 12,000 and 4,000 by default, and its warm
   * throughput.
   */
  throughput?: Throughput;
  /** Memory of the functions that run tasks; 256 MB. */
  taskMemoryMb?: number;
  /** Stops all background work; calls are still answered, and queues keep their messages. */
  paused?: boolean;
  /**
   * The name of a table restored from a backup; it replaces the installation's own one, which is
   * retained.
   */
  restoredTable?: string;
  /** The tenant whose instances these are; `default`. */
  tenant?: string;
}>;

const DEFAULT_RETENTION = Duration.days(30);
const MIN_RETENTION = Duration.days(15);
const DEFAULT_THROTTLE: Throttle = { perSecond: 500, burst: 1_000 };

/** Fermata in an AWS account: the API, the functions and queues behind it, and the storage. */
export class Fermata extends Construct {
  /** The URL of the HTTP API, without a trailing slash. */
  readonly url: string;
  readonly table: InstanceTable;
  readonly queues: EngineQueues;
  readonly bus: SignalBus;
  readonly blobs: BlobsBucket;
  /** Absent where the wheel holds the timers. */
  readonly schedules: TimerSchedules | undefined;
  readonly functions: EngineFunctions;
  /** The namespace of the functions' metrics; each installation has its own. */
  readonly metricsNamespace: string;
  readonly #api: EngineHttpApi | EngineRestApi;

  constructor(scope: Construct, id: string, props: FermataProps = {}) {
    super(scope, id);
    const { encryptionKey, removalPolicy = RemovalPolicy.RETAIN, alarms = {} } = props;
    const retention = retentionOf(props);
    this.metricsNamespace = `Fermata/${Names.uniqueResourceName(this, { maxLength: 100 })}`;
    if (encryptionKey !== undefined) allowServicesToUse(encryptionKey, this);
    this.table = new InstanceTable(this, "Instances", {
      encryptionKey,
      removalPolicy,
      throughput: props.throughput,
      restored: props.restoredTable,
    });
    this.blobs = new BlobsBucket(this, "Blobs", { encryptionKey, removalPolicy, retention });
    this.queues = new EngineQueues(this, "Queues", { encryptionKey });
    this.bus = new SignalBus(this, "Signals", {
      encryptionKey,
      workQueue: this.queues.work.queue,
    });
    this.schedules = this.#schedules(props);
    this.functions = this.#functions(props, retention);
    // What the rule of a new release delivers is for functions of that release.
    this.bus.rules.accepted.node.addDependency(this.functions.byRole.fanOutSignal.fn);
    this.#api = this.#createApi(props);
    this.url = this.#api.url;
    if (alarms !== "off") {
      new Observability(this, "Observability", { ...alarms, of: this });
    }
  }

  /** Lets a caller that signs its requests make the calls of some verbs; of all by default. */
  grantCall(grantee: IGrantable, ...verbs: Verb[]): void {
    this.#api.grantCall(grantee, verbs.length === 0 ? VERBS : verbs);
  }

  /** Every dead-letter queue, by the role of its source. */
  deadLetters(): Readonly<Record<string, DeadLetterQueue>> {
    const ofQueues = Object.entries(this.queues.byRole()).map(
      ([role, { deadLetters }]) => [role, deadLetters] as const,
    );
    return {
      ...Object.fromEntries(ofQueues),
      acceptedSignals: this.bus.deadLetters.accepted,
      requestedSignals: this.bus.deadLetters.requested,
      sweep: this.functions.sweepRule.deadLetters,
      ...(this.schedules !== undefined && { schedules: this.schedules.deadLetters }),
    };
  }

  #schedules({ timers, encryptionKey }: FermataProps): TimerSchedules | undefined {
    if (timers === "wheel") return undefined;
    return new TimerSchedules(this, "Timers", {
      encryptionKey,
      timersQueue: this.queues.timers.queue,
    });
  }

  #functions(props: FermataProps, retention: Duration): EngineFunctions {
    const { tasks = {}, encryptionKey } = props;
    const elsewhere = declaredElsewhere(tasks);
    const taskQueues = taskQueuesOf(this, tasks.queues ?? []);
    return new EngineFunctions(this, "Functions", {
      code: new FunctionCode(this, foldersOf(tasks), elsewhere.manifest),
      table: this.table,
      queues: this.queues,
      bus: this.bus,
      blobs: this.blobs,
      schedules: this.schedules,
      elsewhere,
      taskQueues,
      http: props.http ?? {},
      environment: environmentOf({
        parts: this,
        tenant: props.tenant ?? "default",
        retention,
        announce: props.announce ?? false,
        metricsNamespace: this.metricsNamespace,
        taskQueues: taskQueues.arns,
        timerQueueMaxSeconds: props.timerQueueMaxSeconds ?? 900,
        scheduleLeadSeconds: props.scheduleLeadSeconds ?? 90,
      }),
      encryptionKey,
      reservedConcurrency: props.reservedConcurrency ?? {},
      maxConcurrency: props.maxConcurrency ?? {},
      taskMemoryMb: props.taskMemoryMb ?? 256,
      paused: props.paused ?? false,
      logs: logsOf(props),
    });
  }

  #createApi(props: FermataProps): EngineHttpApi | EngineRestApi {
    const { auth = { kind: "iam" }, api = "http", cors, throttle = DEFAULT_THROTTLE } = props;
    if (auth.kind === "none") warnOfOpenApi(this);
    const common = { handler: this.functions.byRole.httpApi.fn, throttle, logs: logsOf(props) };
    if (api === "http") return new EngineHttpApi(this, "Api", { ...common, auth, cors });
    if (auth.kind === "jwt" || cors !== undefined) {
      throw new Error(
        `A REST API takes neither JWT nor CORS here (${this.node.path}). Leave out \`api: "rest"\`.`,
      );
    }
    return new EngineRestApi(this, "Api", { ...common, auth });
  }
}

function retentionOf({ retention = DEFAULT_RETENTION }: FermataProps): Duration {
  if (retention.toMilliseconds() >= MIN_RETENTION.toMilliseconds()) return retention;
  throw new Error(
    `Ended instances are kept for at least ${MIN_RETENTION.toDays()} days, so that what is still ` +
      `under way finds them; retention is ${retention.toHumanString()}. Make it longer.`,
  );
}

function logsOf({
  logRetention = RetentionDays.ONE_MONTH,
  encryptionKey,
}: FermataProps): LogGroupProps {
  return { retention: logRetention, ...(encryptionKey !== undefined && { encryptionKey }) };
}

function warnOfOpenApi(scope: Construct): void {
  Annotations.of(scope).addWarningV2(
    "fermata:open-door",
    "The API is open: everybody who reaches its address may deploy, start, cancel and read " +
      'everything. Deploy this to nothing but your own machine; everywhere else use auth kind "iam" or "jwt".',
  );
}
