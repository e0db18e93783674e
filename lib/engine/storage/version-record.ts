import { parserOf } from "./formats.ts";

/** One version, as it was deployed. */
export type VersionRecord = Readonly<{
  hash: string;
  sourceHash: string;
  deployedAt: number;
  /** What its author calls it: a call may be bound to that. */
  tag?: string;
}>;

export const parseVersion = parserOf<VersionRecord>("definition-version");
