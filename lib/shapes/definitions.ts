/** What deploying takes, and what readers see of definitions and of the schedules that they begin by. */
import type { Notation } from "../definition/definition.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";

export type Source = Readonly<{ notation: Notation; source: string }>;

/** `created: false`: the source is identical to the latest, nothing was stored. */
export type Deployment = Readonly<{ created: boolean; definitions: readonly DeployedView[] }>;

export type DeployedView = VersionView & Readonly<{ warnings: readonly Diagnostic[] }>;

/** What every view of one version of a definition has. */
type VersionView = Readonly<{
  id: string;
  version: number;
  hash: string;
  notation: Notation;
  name?: string;
  startEvents: readonly StartEventView[];
}>;

export type StartEventView = Readonly<{
  element: string;
  kind: string;
  name?: string;
  timer?: Readonly<{ as: "duration" | "date" | "cycle"; text: string; zone?: string }>;
  /** Of a timer that is armed: when its next instance begins. */
  nextDue?: string;
}>;

export type DefinitionView = VersionView &
  Readonly<{
    enabled: boolean;
    deployedAt: string;
    /** Live instances of all versions of this id, counted up to 1,000. */
    live: Readonly<{ count: number; more: boolean }>;
  }>;

/** Over how many shards the lists of a definition are spread. */
export type ListingView = Readonly<{ definition: string; shards: number }>;

export type ScheduleView = Readonly<{
  id: string;
  definition: Readonly<{ id: string; version: number }>;
  element: string;
  kind: "duration" | "date" | "cycle" | "cron";
  /** As the definition has it. */
  text: string;
  zone: string;
  /** Absent when it is not enabled, or nothing is left. */
  nextDue?: string;
  /** Absent where it never ends. */
  remaining?: number;
  enabled: boolean;
  /** Instances begun since it was deployed or enabled last. */
  fired: number;
}>;
