import type { TimerMessage } from "../../ports/message.ts";
import type { ArmedTimer, Timers } from "../../ports/timers.ts";
import { SimulatedQueue } from "./queue.ts";

/**
 * Timers in memory, fired by the world as messages of a queue: late, doubled or, with `lose`, never.
 * None is early by the clock that it was made with.
 */
export class SimulatedTimers extends SimulatedQueue<TimerMessage> implements Timers {
  async arm({ tenant, instanceId, ticket, dueAt }: ArmedTimer): Promise<void> {
    await this.send({ kind: "timer", tenant, instanceId, ticket }, dueAt);
  }

  /** What is being delivered is not called back. */
  async disarm({
    tenant,
    instanceId,
    ticket,
  }: Pick<ArmedTimer, "tenant" | "instanceId" | "ticket">): Promise<void> {
    this.lose(
      ({ message, isRunning }) =>
        !isRunning &&
        message.tenant === tenant &&
        message.instanceId === instanceId &&
        message.ticket === ticket,
    );
  }
}
