import type { HostWorld, Observation } from "../lib/engine/world.ts";
import type { Instance, TimerTicket } from "../lib/kernel/instance.ts";
import type { Outcome, Store } from "../lib/ports/store.ts";
import type { MetricName, Telemetry } from "./middleware/telemetry.ts";

/** The same world, with its commits, parked facts and observations measured, and its failures logged. */
export function observed(world: HostWorld, telemetry: Telemetry): HostWorld {
  const { store, parking, clock } = world;
  return {
    ...world,
    store: observedStore(store, telemetry),
    parking: {
      park: async (message) => {
        await parking.park(message);
        telemetry.measure("Parked", 1);
      },
    },
    onTrouble: (about, error) => telemetry.log("warn", "left-alone", { about, error }),
    onCommitted: (instance, before) => tellCommit(instance, before, clock.now(), telemetry),
    observe: (observation) => tellObservation(observation, telemetry),
  };
}

/** The same store, with the outcomes of its commits counted. */
export function observedStore(store: Store, telemetry: Pick<Telemetry, "measure">): Store {
  return {
    // All arguments are passed on: a lost one would go unnoticed.
    get: (...asked) => store.get(...asked),
    scan: (...asked) => store.scan(...asked),
    due: (...asked) => store.due(...asked),
    list: (...asked) => store.list(...asked),
    tidy: (...asked) => store.tidy(...asked),
    close: () => store.close(),
    commit: async (writes) => {
      const outcome = await store.commit(writes);
      const metric = OUTCOMES[outcome.kind];
      if (metric !== undefined) telemetry.measure(metric, 1);
      return outcome;
    },
  };
}

const OUTCOMES: Readonly<Record<Outcome["kind"], MetricName | undefined>> = {
  committed: undefined,
  conflict: "Conflicts",
  busy: "StoreBusy",
  unknown: "UnknownOutcomes",
};

function tellObservation(observation: Observation, telemetry: Telemetry): void {
  switch (observation.kind) {
    case "stale":
      telemetry.measure("StaleFacts", 1, { kind: observation.fact });
      break;
    case "taken-over": {
      const { instanceId, name } = observation;
      telemetry.log("info", "taken-over", { instanceId, name });
      telemetry.measure("TakenOver", 1);
      break;
    }
    case "left-to-owner":
      telemetry.measure("NackOwn", 1);
      break;
    case "fenced":
      telemetry.measure("NackFence", 1);
      break;
    case "outcome-parked":
      telemetry.measure("OutcomesParked", 1);
      break;
    case "swept":
      telemetry.measure("LookAtLag", Math.max(0, observation.lateMs));
      break;
    case "timer-start-fired": {
      const { definitionId, element, lateMs } = observation;
      telemetry.log("debug", "timer-start-fired", { definitionId, element, lateMs });
      break;
    }
    case "page-delivered":
      telemetry.measure("BroadcastMatched", observation.matched);
      // It may have been accepted by a host with another clock.
      telemetry.measure("BroadcastDuration", Math.max(0, observation.ms));
      break;
    case "message-kept":
      telemetry.measure("MailboxDepth", observation.depth);
      break;
  }
}

function tellCommit(
  instance: Instance,
  before: Instance | undefined,
  now: number,
  telemetry: Telemetry,
): void {
  const about = { tenant: instance.tenant, instanceId: instance.id, version: instance.version };
  telemetry.measure("Steps", 1);
  telemetry.log("debug", "step-committed", { ...about, definition: instance.definition.id });
  const known = new Set(before?.tickets.map(({ id }) => id));
  for (const ticket of instance.tickets) {
    if (ticket.on !== "incident" || known.has(ticket.id)) continue;
    telemetry.measure("Incidents", 1);
    const { id, type, element } = ticket;
    telemetry.log("warn", "incident-raised", { ...about, incidentId: id, type, element });
  }
  for (const { dueAt } of fired(instance, before)) {
    telemetry.measure("TimerLateness", Math.max(0, now - dueAt));
  }
}

/** Timers that this commit fired: the history names their elements. */
function fired(instance: Instance, before: Instance | undefined): readonly TimerTicket[] {
  if (before === undefined) return [];
  const open = new Set(instance.tickets.map(({ id }) => id));
  const rung = new Set(
    instance.trail.entries
      .filter(({ seq, type }) => seq >= before.trail.next && type === "timer-due")
      .map(({ element }) => element),
  );
  return before.tickets.filter(
    (ticket): ticket is TimerTicket =>
      ticket.on === "timer" && !open.has(ticket.id) && rung.has(ticket.element),
  );
}
