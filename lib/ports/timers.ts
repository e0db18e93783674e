import type { Instant } from "../definition/time/instant.ts";
import type { TimerMessage, TimerStartMessage } from "./message.ts";

/** Delivers a timer message when a timer is due: possibly late or twice, but never early. */
export interface Timers {
  arm(timer: ArmedTimer | ArmedStart): Promise<void>;
  /** Best effort: a disarmed timer that fires finds its ticket closed. */
  disarm(timer: DisarmedTimer | DisarmedStart): Promise<void>;
}

export type DisarmedTimer = TimerOfInstance & Disarmed;
export type ArmedTimer = TimerOfInstance & Armed;
/** An occurrence of a timer start event. */
export type DisarmedStart = Occurrence & Disarmed;
export type ArmedStart = Occurrence & Armed;

type TimerOfInstance = Readonly<{ tenant: string; instanceId: string; ticket: string }>;
type Occurrence = Omit<TimerStartMessage, "kind">;

/** When it was due, and since when it was open: this determines where it may be held. */
type Disarmed = Readonly<{ dueAt: Instant; since: Instant }>;

type Armed = Readonly<{
  dueAt: Instant;
  /** The store's due index will find this one by itself. */
  covered: boolean;
}>;

/** The message that a timer may be due. */
export function timerMessage(
  timer: TimerOfInstance | Occurrence,
): TimerMessage | TimerStartMessage {
  if ("instanceId" in timer) {
    const { tenant, instanceId, ticket } = timer;
    return { kind: "timer", tenant, instanceId, ticket };
  }
  const { tenant, definitionId, hash, element, run, n } = timer;
  return { kind: "timer-start", tenant, definitionId, hash, element, run, n };
}

/** The unique name of a timer; the same however often it is armed. */
export function timerName(timer: TimerOfInstance | Occurrence): string {
  if ("instanceId" in timer) return [timer.tenant, timer.instanceId, timer.ticket].join("\0");
  const { tenant, definitionId, hash, element, run, n } = timer;
  return [tenant, definitionId, hash, element, run, n].join("\0");
}
