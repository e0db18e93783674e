// EventBridge Scheduler as its documentation describes it, behind the SDK's own client, so that what
// arms timers here is what arms them on AWS: schedules of whole seconds that fire within a minute of
// their instant, refuse the past and a name that is taken, and delete themselves. Its faults: it may
// refuse for a while, fire late, fire twice, or never.
import { hash } from "node:crypto";
import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  ResourceNotFoundException,
  type SchedulerClient,
  SchedulerServiceException,
  ThrottlingException,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import type { SimulatedTimers } from "../../../lib/adapters/simulated/timers.ts";
import type { TimerMessage, TimerStartMessage } from "../../../lib/ports/message.ts";
import { MESSAGE_FORMAT } from "../../../lib/ports/message-text.ts";
import { timerName } from "../../../lib/ports/timers.ts";
import { must } from "../checks/violation.ts";
import type { Action, Stage } from "./stage.ts";

/** How long after its instant a schedule may fire. */
const WINDOW_MS = 60_000;

type Schedule = Readonly<{
  name: string;
  firesAt: number;
  message: TimerMessage | TimerStartMessage;
  times: number;
  /** It is gone once it has fired. */
  isOnce: boolean;
}>;

/** The schedules of an installation; they fire when the world lets them. */
export class SimulatedScheduler {
  readonly #stage: Stage;
  readonly #queue: SimulatedTimers;
  readonly #schedules = new Map<string, Schedule>();

  constructor(stage: Stage, queue: SimulatedTimers) {
    this.#stage = stage;
    this.#queue = queue;
  }

  /** Those that stand; one that has fired and stays behind, too. */
  all(): readonly Schedule[] {
    return [...this.#schedules.values()];
  }

  /** Deletes all of them. */
  lose(): void {
    this.#schedules.clear();
  }

  /** The SDK's client, as far as timers use it. */
  get client(): SchedulerClient {
    return { send: (command: unknown) => this.#send(command) } as unknown as SchedulerClient;
  }

  actions(): readonly Action[] {
    return this.#waiting()
      .filter(({ firesAt }) => firesAt <= this.#stage.now)
      .map((schedule) => ({
        label: `schedule of ${timerName(schedule.message).replaceAll("\0", " ")} fires`,
        act: () => this.#fire(schedule),
      }));
  }

  instants(): readonly number[] {
    return this.#waiting().map(({ firesAt }) => firesAt);
  }

  #waiting(): readonly Schedule[] {
    return this.all().filter(({ times }) => times > 0);
  }

  #fire(schedule: Schedule): void {
    const { name, isOnce, message } = schedule;
    const times = schedule.times - 1;
    if (times === 0 && isOnce) this.#schedules.delete(name);
    else this.#schedules.set(name, { ...schedule, times });
    void this.#queue.send(message); // no gate: the service is outside the simulated world
  }

  async #send(command: unknown): Promise<unknown> {
    if (command instanceof CreateScheduleCommand) return this.#create(command.input);
    if (command instanceof DeleteScheduleCommand) return this.#delete(command.input.Name ?? "");
    throw new Error("the simulated scheduler was asked for something that it does not know");
  }

  async #create(input: CreateScheduleCommandInput): Promise<unknown> {
    const { actors, now, scenario } = this.#stage;
    const name = input.Name ?? "";
    must(/^[0-9a-zA-Z-_.]{1,64}$/.test(name), () => `no schedule can be called ${name}`);
    const fault = await actors.stop("scheduler.create", "before");
    if (fault?.fault === "busy") throw new ThrottlingException(said("slow down"));
    const at = parseAt(input);
    if (at <= now) throw new ValidationException(said("the instant is past"));
    if (this.#schedules.has(name)) throw new ConflictException(said("there is one of this name"));
    if (fault?.fault !== "never" && !scenario.losesSchedules) {
      this.#schedules.set(name, {
        name,
        firesAt: at + withinWindow(name) + (fault?.fault === "delayed" ? fault.byMs : 0),
        message: parseInput(input),
        times: fault?.fault === "duplicated" ? 2 : 1,
        isOnce: input.ActionAfterCompletion === "DELETE",
      });
    }
    await actors.stop("scheduler.create", "after");
    return {};
  }

  async #delete(name: string): Promise<unknown> {
    const { actors } = this.#stage;
    const fault = await actors.stop("scheduler.delete", "before");
    if (fault?.fault === "lost") throw new SchedulerServiceException(failure);
    if (!this.#schedules.delete(name)) throw new ResourceNotFoundException(said("there is none"));
    await actors.stop("scheduler.delete", "after");
    return {};
  }
}

/** Spread over the window, and the same in every run. */
const withinWindow = (name: string): number =>
  hash("sha256", name, "buffer").readUInt32BE(0) % WINDOW_MS;

const said = (text: string) => ({ message: text, Message: text, $metadata: {} });

const failure = {
  name: "InternalServerException",
  $fault: "server",
  message: "it did not work",
  $metadata: {},
} as const;

function parseAt({ ScheduleExpression = "", FlexibleTimeWindow }: CreateScheduleCommandInput) {
  const [, text] = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/.exec(ScheduleExpression) ?? [];
  must(text !== undefined, () => `no one-time schedule: ${ScheduleExpression}`);
  must(FlexibleTimeWindow?.Mode === "OFF", () => "a flexible window would add to the minute");
  return Date.parse(`${text}Z`);
}

function parseInput({ Target }: CreateScheduleCommandInput): TimerMessage | TimerStartMessage {
  const { v, ...message } = JSON.parse(Target?.Input ?? "{}") as (
    | TimerMessage
    | TimerStartMessage
  ) & { v: number };
  const isTimer = message.kind === "timer" || message.kind === "timer-start";
  must(v === MESSAGE_FORMAT && isTimer, () => `no timer message: ${Target?.Input}`);
  return message;
}
