import { EngineError, type ErrorCode, type Explanation } from "../../ports/engine-error.ts";

/** Explains a failure of SQLite to the operator of the engine. */
export function explainSqlite(
  cause: unknown,
  folder: string,
  during: "read" | "commit",
): EngineError {
  if (cause instanceof EngineError) return cause;
  const { code, ...said } = meanings[primaryCode(cause)] ?? otherwise[during];
  return new EngineError(code, { ...said, where: `data folder ${folder}`, cause });
}

type Meaning = Readonly<{ code: ErrorCode }> &
  Pick<Explanation, "happened" | "fix" | "retryable" | "stopsEngine">;

const corrupt: Meaning = {
  code: "store/corrupt",
  happened: "The database file is damaged, or is not one of ours",
  fix: "Stop the engine and restore the whole folder from a backup; do not delete single files.",
  stopsEngine: true,
};

const unusable: Meaning = {
  code: "store/folder-unusable",
  happened: "The database file cannot be opened for writing",
  fix: "Check that the folder and the files in it belong to this user and are writable.",
};

/** Result codes of SQLite, without their extension. */
const meanings: Readonly<Record<number, Meaning>> = {
  5: {
    code: "store/folder-in-use",
    happened: "Another program holds the database file",
    fix: "Close whatever else has it open, and start the engine again.",
    retryable: true,
  },
  8: unusable,
  11: corrupt,
  13: {
    code: "store/disk-full",
    happened: "There is no room for the new state; nothing of this commit was saved",
    fix: "Free some space: what was acknowledged is safe, and the next commit is tried again.",
  },
  14: unusable,
  26: corrupt,
};

const otherwise: Readonly<Record<"read" | "commit", Meaning>> = {
  commit: {
    code: "store/commit-failed",
    happened: "The new state was not saved",
    fix: "The step is retried; if this repeats, look for disk errors in the system log.",
  },
  read: {
    code: "store/read-failed",
    happened: "The stored state could not be read",
    fix: "The read may be repeated; if it keeps failing, look for disk errors in the system log.",
  },
};

function primaryCode(cause: unknown): number {
  const hasCode = cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number";
  return hasCode && typeof cause.errcode === "number" ? cause.errcode & 0xff : -1;
}
