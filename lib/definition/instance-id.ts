/** What an instance may be called: safe in paths, file names and keys. */
export const INSTANCE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The rule in words, for whoever broke it. */
export const INSTANCE_ID_RULE = "must be 1 to 64 of A-Z a-z 0-9 _ -";

/** Says whether an instance may be called so. */
export function isInstanceId(text: unknown): text is string {
  return typeof text === "string" && INSTANCE_ID.test(text);
}
