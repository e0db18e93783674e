/**
 * Where secrets are kept. Their values go into requests just before these are sent, and nowhere
 * else.
 */
export interface Secrets {
  /** The secret's value; undefined: there is none of this name. Throws when it cannot be looked up. */
  valueOf(name: string): Promise<string | undefined>;
}
