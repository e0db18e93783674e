/** Notifies long polls for a task type that a task was offered, without polling the store. */
export interface OfferWatch {
  /** A task of this type may have been added: wakes the poll that has waited longest. */
  tell(type: string): void;
  /** Starts to wait; notifications from now on are not missed. */
  begin(type: string, waitMs: number): OfferWait;
}

export type OfferWait = Readonly<{
  /** Resolves when the poll should check again, at the latest after `withinMs`; false: time is up. */
  next(withinMs?: number): Promise<boolean>;
  stop(): void;
}>;
