/** Many at once: which incidents or ended instances, and how each of them fared. */
import type { Variables } from "../definition/json.ts";
import type { Ended } from "../kernel/ending.ts";
import type { IncidentView } from "./instances.ts";
import type { PageRequest } from "./paging.ts";

export type IncidentFilter = Readonly<{
  definition?: string;
  type?: string;
  element?: string;
  businessKey?: string;
  tag?: string;
  /** Of the instance. */
  startedAfter?: string;
  startedBefore?: string;
}>;

/** An incident, and whose it is. */
export type FoundIncident = IncidentView &
  Readonly<{
    instanceId: string;
    definition: Readonly<{ id: string; version: number }>;
    businessKey?: string;
  }>;

export type ResolveRequest = Bulk<IncidentFilter> &
  Readonly<{ variables?: Variables; retries?: number }>;

export type ResolveReport = BulkReport &
  Readonly<{ resolved: number; items: readonly (FoundIncident & BulkOutcome<"resolved">)[] }>;

export type PurgeFilter = Readonly<{
  definition?: string;
  status?: Ended;
  businessKey?: string;
  tag?: string;
  endedBefore?: string;
}>;

export type EndedInstance = Readonly<{
  instanceId: string;
  definition: Readonly<{ id: string; version: number }>;
  status: Ended;
  endedAt: string;
}>;

export type PurgeRequest = Bulk<PurgeFilter>;

export type PurgeReport = BulkReport &
  Readonly<{ purged: number; items: readonly (EndedInstance & BulkOutcome<"purged">)[] }>;

/** How one of many fared: `gone` is what another request was quicker with. */
export type BulkOutcome<Done extends string> = Readonly<{
  outcome: "matched" | Done | "gone" | "refused";
  problem?: Readonly<{ code: string; message: string }>;
}>;

/** Which of them, what to do, and where the page before has stopped. */
type Bulk<Filter> = Partial<PageRequest> &
  Readonly<{
    filter?: Filter;
    /** True by default: only tells what would be done. */
    dryRun?: boolean;
  }>;

/** What was done; in a dry run nothing but `matched` counts, else it is the sum of the others. */
type BulkReport = Readonly<{
  dryRun: boolean;
  matched: number;
  gone: number;
  refused: number;
  nextCursor?: string;
}>;
