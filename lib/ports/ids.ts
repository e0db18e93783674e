/** Names and fingerprints. */
export interface Ids {
  /** An id that nobody has used. */
  fresh(): string;
  /** A short fingerprint: equal for equal text, and for no other text in practice. */
  digest(text: string): string;
}
