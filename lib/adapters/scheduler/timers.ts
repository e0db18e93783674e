import {
  ConflictException,
  CreateScheduleCommand,
  DeleteScheduleCommand,
  type SchedulerClient,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import type { Instant } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Meter } from "../../ports/meter.ts";
import {
  type ArmedStart,
  type ArmedTimer,
  type DisarmedStart,
  type DisarmedTimer,
  type Timers,
  timerMessage,
} from "../../ports/timers.ts";
import { type ScheduleTarget, scheduleName, scheduleOf } from "./schedule.ts";
import { type TimerMessages, type TimerRouteSettings, timerRouteOf } from "./timer-route.ts";

type Options = ScheduleTarget &
  TimerRouteSettings &
  Readonly<{
    client: SchedulerClient;
    queue: TimerMessages;
    clock: Pick<Clock, "now">;
    meter?: Meter;
    /** The trace that the running code belongs to: schedules carry it (W3C traceparent). */
    traceparent?: () => string | undefined;
  }>;

/** Timers that are due soon wait in the queue; each of the others has a schedule that sends it there. */
export class SchedulerTimers implements Timers {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async arm(timer: ArmedTimer | ArmedStart): Promise<void> {
    const now = this.#options.clock.now();
    const route = timerRouteOf({ dueAt: timer.dueAt, now }, this.#options);
    if (route.by === "schedule" && (await this.#schedule(timer, { at: route.at, now }))) return;
    await this.#options.queue.send(timerMessage(timer), Math.max(timer.dueAt - now, 0));
  }

  /**
   * Only timers whose schedule has not fired: a queued message cannot be withdrawn. A schedule that
   * is left behind fires once, finds its ticket closed and is deleted, so failures are ignored.
   */
  async disarm(timer: DisarmedTimer | DisarmedStart): Promise<void> {
    if (!this.#mayHaveSchedule(timer)) return;
    const { client, group } = this.#options;
    const command = new DeleteScheduleCommand({ Name: scheduleName(timer), GroupName: group });
    await client.send(command).catch(() => {});
  }

  /** False when the service refuses it, because the instant is past by its clock. */
  async #schedule(
    timer: ArmedTimer | ArmedStart,
    { at, now }: Readonly<{ at: Instant; now: Instant }>,
  ): Promise<boolean> {
    const { client, meter, traceparent } = this.#options;
    try {
      const schedule = scheduleOf(timer, at, this.#options, traceparent?.());
      await client.send(new CreateScheduleCommand(schedule));
    } catch (cause) {
      if (cause instanceof ConflictException) return true;
      if (cause instanceof ValidationException && at - now < MAX_SKEW_MS) return false;
      throw notArmed(timer, cause);
    }
    meter?.({ of: "scheduler", invocations: 1 });
    return true;
  }

  #mayHaveSchedule({ dueAt, since }: DisarmedTimer | DisarmedStart): boolean {
    const { clock, queueMaxSeconds, leadSeconds } = this.#options;
    const wasFar = dueAt - since > queueMaxSeconds * 1_000;
    return wasFar && dueAt - clock.now() > leadSeconds * 1_000;
  }
}

/**
 * More than any clock skew. When the service refuses an instant beyond it, the reason is not that
 * it is past: in the queue such a timer would be delivered every quarter of an hour, for as long as
 * it waits.
 */
const MAX_SKEW_MS = 120_000;

function notArmed(timer: ArmedTimer | ArmedStart, cause: unknown): EngineError {
  const whose =
    "instanceId" in timer
      ? `instance ${timer.instanceId}, ticket ${timer.ticket}`
      : `definition ${timer.definitionId}, start event ${timer.element}`;
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return new EngineError("timers/not-armed", {
    happened: "The scheduler did not take a timer",
    where: `${whose}; ${reason}`,
    fix: "Nothing is lost: the sweep fires it, up to two minutes late. If this goes on, look at the function's permissions and at the quota of schedules.",
    cause,
  });
}
