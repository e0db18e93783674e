import type { Variables } from "../definition/json.ts";

/** How an instance has ended, and for which reason. */
export type Ended = "succeeded" | "failed" | "cancelled";
export type TerminationKind = "success" | "failure" | "cancel" | "timeout";
export type InstanceError = Traced &
  Readonly<{
    code?: string;
    message: string;
    element?: string;
    /** What was thrown with it; for the caller's boundary event. */
    variables?: Variables;
  }>;

/** Where an error came from, as far as it was reported. */
export type Traced = Readonly<{ name?: string; stack?: string }>;
