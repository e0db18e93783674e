/** The user's own queues, to which tasks may be sent instead of being offered to polls. */
export interface OwnQueues {
  /** Whether this installation is configured to send there. */
  allows(queueArn: string): boolean;
  /**
   * Why tasks cannot be sent there, as far as that can be known without sending one: a clause for
   * an error. Undefined where no reason is known. Throws when it cannot be checked now.
   */
  problemOf(queueArn: string): Promise<string | undefined>;
  /**
   * Sends a task to a queue with a delay. "refused": the queue does not take it, and an immediate
   * retry would not help. Throws when a retry might help.
   */
  send(queueArn: string, body: string, delayMs: number): Promise<"sent" | "refused">;
}
