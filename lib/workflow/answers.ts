/** What became of an event, as the API answers. Without an outcome it is still on its way. */
export type EventAnswer = Readonly<{
  id: string;
  /** `queued`: it is kept for a later wait. */
  outcome?: "delivered" | "queued" | "dropped";
  /** Of a broadcast. */
  deliveredCount?: number;
}>;

/** What became of a message, as the API answers. */
export type MessageAnswer = Readonly<{
  messageId: string;
  /** `buffered`: it is kept for a later wait. */
  outcome: "delivered" | "started" | "buffered" | "duplicate";
  /** The instance that got it, or was started by it; the first, if there are several. */
  instanceId?: string;
}>;
