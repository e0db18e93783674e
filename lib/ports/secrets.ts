/** Where secrets are kept. Their texts go into requests just before these leave, and nowhere else. */
export interface Secrets {
  /** The secret's text; undefined: there is none of this name. Throws when nobody can tell. */
  valueOf(name: string): Promise<string | undefined>;
}
