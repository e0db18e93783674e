/** Names and fingerprints. */
export interface Ids {
  /** A new unique id. */
  fresh(): string;
  /** A short fingerprint: equal for equal text, and for no other text in practice. */
  digest(text: string): string;
}
