/** What the host of an engine can do; each trait says one thing, so that a rule can name its reason. */
import { BILLED_BYTES, MAX_WHOLE_BYTES } from "../definition/limits.ts";

export type HostTraits = Readonly<{
  /** Messages outlive the process. Where they do not, a restart finds in the store what is owed. */
  queuesSurvive: boolean;
  /** No other process uses the store: what this one remembers of it holds, and callers take turns. */
  ownsStore: boolean;
  /** A reader never sees a commit of several items half applied. */
  seesWholeCommits: boolean;
  /** Writes that are made together share one flush. */
  groupsCommits: boolean;
  /** Bytes that an instance may take before its large values are externalized. */
  wholeBytes: number;
}>;

/** The embedded engine: one process owns the store, and its queues are in memory. */
export const ONE_PROCESS: HostTraits = {
  queuesSurvive: false,
  ownsStore: true,
  seesWholeCommits: true,
  groupsCommits: true,
  wholeBytes: MAX_WHOLE_BYTES,
};

/** Functions on AWS: many processes share one table, which bills each write by its size. */
export const MANY_PROCESSES: HostTraits = {
  queuesSurvive: true,
  ownsStore: false,
  seesWholeCommits: false,
  groupsCommits: false,
  wholeBytes: BILLED_BYTES,
};
