import type { Instant } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";

/** Who an instance is, before anything happens to it. */
export type Identity = Pick<
  Instance,
  "id" | "tenant" | "definition" | "startHash" | "businessKey" | "tags" | "parent"
>;

/** An instance to which nothing has happened yet: what its first decision begins with. */
export function blankInstance(identity: Identity, now: Instant): Instance {
  return {
    ...identity,
    version: 0,
    status: "live",
    startedAt: now,
    lastNow: now,
    state: null,
    tickets: [],
    outbox: [],
    minted: 0,
    completed: [],
    trail: { next: 1, entries: [] },
    ring: [],
    inbox: [],
    sentEvents: [],
    seenEvents: {},
  };
}
