/** Large values, outside the store. What stands under a name never changes. */
export interface Blobs {
  /**
   * Durable when resolved. Names are made from the content, so putting twice is putting once; one
   * that was to expire has its whole life again.
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined where there is none, or none any more. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Nobody needs it any longer than ended instances are kept; from then on it may vanish. */
  expire(name: string): Promise<void>;
  /** Gone when resolved; one that is not there is no trouble. */
  remove(name: string): Promise<void>;
}
