/** Which failures mean that what is stored cannot be read, now and by this engine. */
import { EngineError, type ErrorCode } from "../ports/engine-error.ts";

/** Says whether an item is the trouble, not the store: trying again at once would not help. */
export const isUnreadable = (cause: unknown): cause is EngineError =>
  cause instanceof EngineError && UNREADABLE.has(cause.code);

/** Written by a newer engine, or by one too old; damaged, or its definition is; no runner for that. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "instance/format-too-new",
  "instance/value-missing",
  "store/item-too-new",
  "store/item-too-old",
  "store/corrupt",
  "engine/misconfigured",
]);

/** What `read` makes of stored bytes; bytes that make no sense are told as what they are. */
export function sound<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw new EngineError("store/corrupt", {
      happened: "What is stored makes no sense",
      where,
      fix: "Restore it from a backup that is whole; nothing was changed, and all else goes on.",
      retryable: false,
      cause,
    });
  }
}
