/** Tells those who wait for tasks of a type that one was offered, without anybody polling. */
export interface OfferWatch {
  /** One more task of this type may be there: the one that waits longest looks. */
  tell(type: string): void;
  /** Begins to wait; what is told from now on is not missed. */
  begin(type: string, waitMs: number): OfferWait;
}

export type OfferWait = Readonly<{
  /** Resolves when it is worth looking again, at the latest in `withinMs`; false: time is up. */
  next(withinMs?: number): Promise<boolean>;
  stop(): void;
}>;
