// Timers as an installation on AWS arms them: the real adapters, on a scheduler and a queue of the
// simulated world.
import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { SchedulerTimers } from "../../../lib/adapters/scheduler/timers.ts";
import { wheelTimers } from "../../../lib/adapters/scheduler/wheel-timers.ts";
import type { SimulatedTimers } from "../../../lib/adapters/simulated/timers.ts";
import { TimerQueue } from "../../../lib/adapters/sqs/timer-queue.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Clock } from "../../../lib/ports/clock.ts";
import type { TimerMessage, TimerStartMessage } from "../../../lib/ports/message.ts";
import { type Timers, timerName } from "../../../lib/ports/timers.ts";
import { must } from "../checks/violation.ts";
import type { SimulatedScheduler } from "./scheduler.ts";
import type { Stage } from "./stage.ts";

const QUEUE_MAX_SECONDS = 900;
const LEAD_SECONDS = 90;

/** The timers of a host, which goes by its own clock. */
export function awsTimers(
  stage: Stage,
  { timers, scheduler }: Readonly<{ timers: SimulatedTimers; scheduler: SimulatedScheduler }>,
  clock: Pick<Clock, "now">,
): Timers {
  const queue = new TimerQueue({ client: queueClient(stage, timers), queueUrl: "timers" });
  const reach = { queue, clock, queueMaxSeconds: QUEUE_MAX_SECONDS };
  if (stage.scenario.timers === "wheel") return sparing(stage, wheelTimers(reach));
  const timersOf = new SchedulerTimers({
    ...reach,
    client: scheduler.client,
    leadSeconds: LEAD_SECONDS,
    group: "group",
    roleArn: "role",
    queueArn: "timers",
    deadLettersArn: "dead-letters",
  });
  return sparing(stage, timersOf);
}

/** Without faults the wheel queues a timer once, and the sweep has nothing to send. */
function sparing(stage: Stage, timers: Timers): Timers {
  const { scenario, queuedAhead } = stage;
  // A host that lacks an engine leaves timers standing, too.
  const lacksEngines = scenario.releases?.some(({ engine }) => engine !== undefined) === true;
  const isSwept = scenario.losesSchedules || lacksEngines;
  const most = isSwept ? Infinity : scenario.timers === "wheel" ? 1 : 0;
  return {
    arm: async (timer) => {
      const name = timerName(timer);
      if (!timer.covered) queuedAhead.set(name, (queuedAhead.get(name) ?? 0) + 1);
      stage.demand(
        !stage.isCalm || (queuedAhead.get(name) ?? 0) <= most,
        `${name} was queued more often than ${most} times by sweep or wheel`,
      );
      await timers.arm(timer);
    },
    disarm: (timer) => timers.disarm(timer),
  };
}

/** Queues a delayed copy, as a function does with an early timer. */
export async function sendLater(
  stage: Stage,
  timers: SimulatedTimers,
  message: TimerMessage | TimerStartMessage,
  afterMs: number,
): Promise<void> {
  const queue = new TimerQueue({ client: queueClient(stage, timers), queueUrl: "timers" });
  await queue.send(message, afterMs);
}

/** SQS holds what it is sent for whole seconds, up to a quarter of an hour. */
function queueClient({ time }: Stage, timers: SimulatedTimers): SQSClient {
  const send = async (command: unknown) => {
    if (!(command instanceof SendMessageCommand)) throw new Error("the queue only takes messages");
    const { MessageBody = "", DelaySeconds = 0 } = command.input;
    must(
      Number.isInteger(DelaySeconds) && DelaySeconds >= 0 && DelaySeconds <= QUEUE_MAX_SECONDS,
      () => `no queue holds a message for ${DelaySeconds} s`,
    );
    await timers.send(parseTimer(MessageBody), instantFrom(time.now() + DelaySeconds * 1_000));
    return {};
  };
  return { send } as unknown as SQSClient;
}

function parseTimer(text: string): TimerMessage | TimerStartMessage {
  const { v: _, ...message } = JSON.parse(text) as (TimerMessage | TimerStartMessage) & {
    v: number;
  };
  return message;
}
