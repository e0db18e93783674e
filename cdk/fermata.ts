import { Annotations, Duration, Names, RemovalPolicy } from "aws-cdk-lib";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { type LogGroupProps, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
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
import type { Auth, Cors, Throttle } from "./door.ts";
import { allowServicesToUse } from "./encryption.ts";
import { environmentOf } from "./environment.ts";
import { FunctionCode } from "./function-code.ts";
import type { HttpTaskProps } from "./http-tasks.ts";
import { type AlarmOptions, Observability } from "./observability/observability.ts";
import { VERBS, type Verb } from "./routes.ts";
import { taskQueuesOf } from "./task-queues.ts";
import { declaredElsewhere, foldersOf, type TasksProps } from "./tasks.ts";

/** How an installation is set up; everything has a default that is safe. */
export type FermataProps = Readonly<{
  /** How callers show who they are; `{ kind: "iam" }` unless said. */
  auth?: Auth;
  /** The work that this installation does itself. */
  tasks?: TasksProps;
  /** Whom tasks of the type `fermata:http` may call, and with which secrets; public hosts unless said. */
  http?: HttpTaskProps;
  /** What becomes of table and bucket when the stack goes; they stay unless said. */
  removalPolicy?: RemovalPolicy;
  /** Encrypts table, queues, bucket, bus and logs; keys of AWS do unless said. */
  encryptionKey?: IKey;
  /** Lets web pages call; none may unless said. */
  cors?: Cors;
  /** How long ended instances and their history are kept; 30 days unless said, at least 15. */
  retention?: Duration;
  /** How long logs are kept; a month unless said. */
  logRetention?: RetentionDays;
  /** Alarms and a dashboard in a stack of their own, which `"off"` leaves out. */
  alarms?: AlarmOptions | "off";
  /**
   * Holds back concurrency for single functions, and holds them to it. At least 2 for each queue
   * that wakes one; small accounts have none to reserve.
   */
  reservedConcurrency?: Partial<Record<FunctionRole, number>>;
  /**
   * How often functions that queues wake run at the same time, at the most; 100 each, or what is
   * reserved for them. At least 2 for each queue that wakes one.
   */
  maxConcurrency?: Partial<Record<WokenRole, number>>;
  /** Who holds timers beyond the reach of a queue: EventBridge Scheduler, or the wheel for masses of them. */
  timers?: "scheduler" | "wheel";
  /** Tells ends and incidents of instances on the bus. */
  announce?: boolean;
  /** Timers that are nearer than this go by queue; 900, the most that SQS can hold back. */
  timerQueueMaxSeconds?: number;
  /** How long before it is due a schedule fires, since Scheduler is up to a minute late; 90. */
  scheduleLeadSeconds?: number;
  /** The kind of API; `"rest"` only for endpoints that have no HTTP APIs. */
  api?: "http" | "rest";
  /** Calls that are let in; 500 a second, 1,000 at once. */
  throttle?: Throttle;
  /** What the table may be asked for a second, 12,000 reads and 4,000 writes unless said, and what it is made ready for. */
  throughput?: Throughput;
  /** Memory of the functions that run tasks; 256 MB. */
  taskMemoryMb?: number;
  /** Stops everything that goes on by itself; calls are still answered, and what comes is kept. */
  paused?: boolean;
  /** The name of a table that was restored from a backup; it takes the place of the own one, which stays. */
  restoredTable?: string;
  /** The tenant whose instances these are; `default`. */
  tenant?: string;
}>;

const DEFAULT_RETENTION = Duration.days(30);
const MIN_RETENTION = Duration.days(15);
const DEFAULT_THROTTLE: Throttle = { perSecond: 500, burst: 1_000 };

/** Fermata in an AWS account: the API, what runs behind it, and what it remembers. */
export class Fermata extends Construct {
  /** Of the HTTP API, without a slash at its end. */
  readonly url: string;
  readonly table: InstanceTable;
  readonly queues: EngineQueues;
  readonly bus: SignalBus;
  readonly blobs: BlobsBucket;
  /** Absent where the wheel holds the timers. */
  readonly schedules: TimerSchedules | undefined;
  readonly functions: EngineFunctions;
  /** Of the metrics that the functions write; each installation has its own. */
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
    // What a new release lets the rule bring is for functions of that release.
    this.bus.rules.accepted.node.addDependency(this.functions.byRole.fanOutSignal.fn);
    this.#api = this.#door(props);
    this.url = this.#api.url;
    if (alarms !== "off") {
      new Observability(this, "Observability", { ...alarms, of: this });
    }
  }

  /** Lets a caller that signs its calls make those of some verbs; all of them unless said. */
  grantCall(grantee: IGrantable, ...verbs: Verb[]): void {
    this.#api.grantCall(grantee, verbs.length === 0 ? VERBS : verbs);
  }

  /** Every queue of what could not be delivered, by whose it is. */
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

  #door(props: FermataProps): EngineHttpApi | EngineRestApi {
    const { auth = { kind: "iam" }, api = "http", cors, throttle = DEFAULT_THROTTLE } = props;
    if (auth.kind === "none") warnOfOpenDoor(this);
    const door = { handler: this.functions.byRole.httpApi.fn, throttle, logs: logsOf(props) };
    if (api === "http") return new EngineHttpApi(this, "Api", { ...door, auth, cors });
    if (auth.kind === "jwt" || cors !== undefined) {
      throw new Error(
        `A REST API takes neither JWT nor CORS here (${this.node.path}). Leave out \`api: "rest"\`.`,
      );
    }
    return new EngineRestApi(this, "Api", { ...door, auth });
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

function warnOfOpenDoor(scope: Construct): void {
  Annotations.of(scope).addWarningV2(
    "fermata:open-door",
    "The API is open: everybody who reaches its address may deploy, start, cancel and read " +
      'everything. Deploy this to nothing but your own machine; everywhere else use auth kind "iam" or "jwt".',
  );
}
