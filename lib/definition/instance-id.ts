/** The allowed ids of an instance: safe in paths, file names and keys. */
export const INSTANCE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The rule in words, for error messages. */
export const INSTANCE_ID_RULE = "must be 1 to 64 of A-Z a-z 0-9 _ -";

/** Whether a text is a valid instance id. */
export function isInstanceId(text: unknown): text is string {
  return typeof text === "string" && INSTANCE_ID.test(text);
}
