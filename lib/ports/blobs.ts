/** Large values outside the store. The content of a name never changes. */
export interface Blobs {
  /**
   * Durable when resolved. Names are made from the content, so a repeated put is idempotent; it
   * cancels an `expire`.
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined where there is none, or it has expired. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Needed no longer than ended instances are kept; after that the store may delete it. */
  expire(name: string): Promise<void>;
  /** Deleted when resolved; a missing blob is not an error. */
  remove(name: string): Promise<void>;
}
