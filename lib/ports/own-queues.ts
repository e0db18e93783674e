/** Queues of the user's own, into which tasks may be put instead of being offered. */
export interface OwnQueues {
  /** Whether this installation was told that it may send there. */
  allows(queueArn: string): boolean;
  /**
   * Why tasks cannot be sent there, as far as it can be told without sending one: a clause for an
   * error. Undefined where nothing speaks against it. Throws when nobody can tell now.
   */
  problemOf(queueArn: string): Promise<string | undefined>;
  /**
   * Puts a task into a queue, not to be delivered before the delay is over. "refused": the queue
   * does not take it, and trying again at once would not help. Throws when it might.
   */
  send(queueArn: string, body: string, delayMs: number): Promise<"sent" | "refused">;
}
