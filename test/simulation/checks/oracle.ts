// Decides whether a stored image can have come from the previous one by facts that the world knows.
// It decides again, by the kernel alone, and searches a chain of facts that gives exactly what was
// written. A partial write, or one from an old image, cannot be explained.

import { decide, decideIncident } from "../../../lib/kernel/decide.ts";
import type { Given } from "../../../lib/kernel/draft.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { IncidentType, Instance, Ticket } from "../../../lib/kernel/instance.ts";
import type { Program } from "../../../lib/kernel/runner.ts";
import type { Traffic } from "./traffic.ts";

/** Facts of one step: ten that were parked, and the timers that they made due. */
const LONGEST_CHAIN = 16;

export type Transition = Readonly<{
  traffic: Traffic;
  program: Program;
  before: Instance;
  after: Instance;
  given: Given;
  facts: readonly Fact[];
  /** A host of the previous format has written it: its history has no occurrences. */
  isOlder: boolean;
}>;

/** The explanation of a transition: facts, and their result. */
export type Explained = Readonly<{ facts: readonly Fact[]; reached: Instance }>;

/** The facts that explain a transition; undefined when none do. */
export async function explain(transition: Transition): Promise<Explained | undefined> {
  const { before, after } = transition;
  const wanted = essence(after);
  if (essence(before) === wanted) return { facts: [], reached: before };
  return search(transition, before, wanted, []);
}

/** The content of an instance, without its leases, and without recent requests. */
export function essence(instance: Instance): string {
  const known = essences.get(instance);
  if (known !== undefined) return known;
  const text = essenceOf(instance);
  essences.set(instance, text);
  return text;
}

const essences = new WeakMap<Instance, string>();

function essenceOf(instance: Instance): string {
  const { status, terminationKind, endedAt, state, tickets, completed, result, error } = instance;
  return stable({
    status,
    terminationKind,
    endedAt,
    state,
    tickets: tickets.map(withoutStamp),
    completed,
    result,
    error,
    inbox: instance.inbox,
    sentEvents: instance.sentEvents,
    seenEvents: instance.seenEvents,
    lastNow: instance.lastNow,
    next: instance.trail.next,
    outcomes: instance.journal?.next,
  });
}

/** The instance before anything happened to it. */
export function blankOf(first: Instance): Instance {
  const { id, tenant, definition, startedAt, startHash, businessKey, tags, parent } = first;
  return {
    id,
    tenant,
    definition,
    startedAt,
    startHash,
    ...(businessKey !== undefined && { businessKey }),
    ...(tags && { tags }),
    ...(parent && { parent }),
    version: 0,
    status: "live",
    lastNow: startedAt,
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

async function search(
  transition: Transition,
  reached: Instance,
  wanted: string,
  chain: readonly Fact[],
): Promise<Explained | undefined> {
  if (chain.length >= LONGEST_CHAIN) return undefined;
  for (const fact of candidates(transition, reached)) {
    const { program, given } = transition;
    const decisions = [
      await decide(program, reached, fact, given),
      ...asides(transition).map((why) =>
        decideIncident(program, reached, { fact, why, hasRoom: true }, given),
      ),
    ];
    for (const decided of decisions) {
      if (!decided.changed || !isOnTheWay(transition, decided.instance)) continue;
      const taken = [...chain, fact];
      if (essence(decided.instance) === wanted) return { facts: taken, reached: decided.instance };
      const found = await search(transition, decided.instance, wanted, taken);
      if (found) return found;
    }
  }
  return undefined;
}

/**
 * Incidents that keep their fact undecided: its message was delivered too often, or its step would
 * make the instance too large.
 */
const asides = ({ before, after }: Transition) =>
  after.tickets
    .filter((ticket) => ticket.on === "incident")
    .filter(({ id, type }) => UNDECIDED.has(type) && !hasTicket(before, id));

const UNDECIDED: ReadonlySet<IncidentType> = new Set(["STEP_POISONED", "STATE_TOO_LARGE"]);

const hasTicket = ({ tickets }: Instance, id: string): boolean =>
  tickets.some((ticket) => ticket.id === id);

function candidates({ facts, after, traffic }: Transition, reached: Instance): readonly Fact[] {
  const own = reached.tickets.flatMap((ticket): readonly Fact[] => {
    if (ticket.on === "timer") return [{ kind: "timer-due", ticket: ticket.id }];
    if (ticket.on === "continuation") return [{ kind: "continued", ticket: ticket.id }];
    if (ticket.on !== "task") return traffic.factsFor(ticket, reached);
    return [...claimOf(ticket, after), ...doubtOf(ticket, after), ...givenUp(ticket, after)];
  });
  return [...facts, ...traffic.sentTo(reached, after), ...own];
}

function claimOf({ id }: Ticket, after: Instance): Fact[] {
  const task = after.tickets.find((ticket) => ticket.id === id);
  if (task?.on !== "task" || task.claim === undefined) return [];
  return [{ kind: "task-claimed", ticket: id, attempt: task.attempt, claim: task.claim }];
}

/**
 * A task that was delivered too often: the incident keeps the failure that the engine made of it.
 */
function givenUp({ id }: Ticket, after: Instance): Fact[] {
  return after.tickets.flatMap((ticket) => {
    const fact = ticket.on === "incident" ? ticket.kept?.fact : undefined;
    return fact?.kind === "task-failed" && fact.ticket === id ? [fact] : [];
  });
}

/** An exclusive task that was claimed and never reported: the engine itself fails it. */
function doubtOf(ticket: Ticket, after: Instance): Fact[] {
  if (ticket.on !== "task" || ticket.claim === undefined) return [];
  const incident = after.tickets.find(({ on, ref }) => on === "incident" && ref === ticket.ref);
  const message = incident?.on === "incident" ? incident.message : "";
  const { id, attempt } = ticket;
  return [{ kind: "task-failed", ticket: id, attempt, message, retries: 0 }];
}

/** Its new history is the beginning of what was written. */
function isOnTheWay({ before, after, isOlder }: Transition, reached: Instance): boolean {
  if (reached.trail.next > after.trail.next) return false;
  const written = new Map(after.trail.entries.map((entry) => [entry.seq, entry]));
  return reached.trail.entries
    .filter(({ seq }) => seq >= before.trail.next)
    .map(({ occurrence, ...entry }) =>
      isOlder || occurrence === undefined ? entry : { ...entry, occurrence },
    )
    .every((entry) => isSame(entry, written.get(entry.seq)));
}

/** The location of a wait's row is up to the engine, and is checked separately. */
function withoutStamp({ lease: _, ...ticket }: Ticket): unknown {
  if (ticket.on === "signal" || ticket.on === "event") {
    const { row: _row, ...wait } = ticket;
    return wait;
  }
  if (ticket.on !== "incident" || ticket.kept?.ticket === undefined) return ticket;
  return { ...ticket, kept: { ...ticket.kept, ticket: withoutStamp(ticket.kept.ticket) } };
}

/** Whether two things have the same JSON; most have even their keys in the same order. */
export const isSame = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a) === JSON.stringify(b) || stable(a) === stable(b);

/** JSON with its keys in order, so equal things have equal texts. */
export function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
