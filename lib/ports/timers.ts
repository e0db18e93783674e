import type { Instant } from "../definition/time/instant.ts";
import type { TimerMessage, TimerStartMessage } from "./message.ts";

/** Wakes whom a timer belongs to when it is due: late or twice perhaps, but never early. */
export interface Timers {
  arm(timer: ArmedTimer | ArmedStart): Promise<void>;
  /** Best effort: a fire of a disarmed timer finds that nobody waits for it any more. */
  disarm(timer: DisarmedTimer | DisarmedStart): Promise<void>;
}

export type DisarmedTimer = TimerOfInstance & Disarmed;
export type ArmedTimer = TimerOfInstance & Armed;
/** An occurrence of a start event by timer. */
export type DisarmedStart = Occurrence & Disarmed;
export type ArmedStart = Occurrence & Armed;

type TimerOfInstance = Readonly<{ tenant: string; instanceId: string; ticket: string }>;
type Occurrence = Omit<TimerStartMessage, "kind">;

/** When it would have been due, and since when it was open: they tell where it may be held. */
type Disarmed = Readonly<{ dueAt: Instant; since: Instant }>;

type Armed = Readonly<{
  dueAt: Instant;
  /** The store's due index will find this one by itself. */
  covered: boolean;
}>;

/** What tells whom a timer belongs to that it may be due. */
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

/** Tells one timer from all others; the same whoever arms it, and however often. */
export function timerName(timer: TimerOfInstance | Occurrence): string {
  if ("instanceId" in timer) return [timer.tenant, timer.instanceId, timer.ticket].join("\0");
  const { tenant, definitionId, hash, element, run, n } = timer;
  return [tenant, definitionId, hash, element, run, n].join("\0");
}
