/**
 * A second runner, as small as possible: a workflow is a generator that yields what it waits for.
 *
 * 1. The state is a journal: what was yielded, and its outcome. Each step replays the generator
 *    from the start and feeds it the outcomes in the journal, up to the first that is missing.
 * 2. Replay must yield what the journal says. When it does not, that is an incident.
 * 3. A ticket's `ref` is its position in the journal and, in a race, its place there.
 * 4. What loses a race is disarmed in the step that decides it.
 * 5. The input of a journal cannot be changed: replay would diverge from it.
 * 6. The outcome of each operation is also in the kernel's journal, in order of arrival.
 * 7. A message that another instance waits for is an incident, which retries.
 */
import type { Definition } from "../../lib/definition/definition.ts";
import type { Json, Variables } from "../../lib/definition/json.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { isPairTaken, takenRefusal } from "../../lib/kernel/correlation.ts";
import {
  closeTicket,
  closeTickets,
  type Draft,
  end,
  enterInJournal,
  markCompleted,
  type NewTicket,
  note,
  openTicket,
  raiseIncident,
} from "../../lib/kernel/draft.ts";
import type { TicketFact } from "../../lib/kernel/fact.ts";
import type { Ticket } from "../../lib/kernel/instance.ts";
import { Refusal } from "../../lib/kernel/refusal.ts";
import { retryTask } from "../../lib/kernel/retry.ts";
import type { Place, Program, Runner } from "../../lib/kernel/runner.ts";

export type Workflow = (input: Variables) => Generator<Operation, Json, Json>;

export type Operation =
  | Single
  | Readonly<{ op: "race"; members: Readonly<Record<string, Single>> }>;
type Single =
  | Readonly<{ op: "task"; type: string; input: Variables; retries: number }>
  | Readonly<{ op: "timer"; ms: number }>
  | Readonly<{ op: "event" | "signal"; name: string }>
  | Readonly<{ op: "assigned"; name: string }>
  | Readonly<{ op: "message"; name: string; key: string }>;

export const task = (type: string, input: Variables = {}, { retries = 3 } = {}): Single => ({
  op: "task",
  type,
  input,
  retries,
});
export const timer = (ms: number): Single => ({ op: "timer", ms });
/** An event of this name, sent to this instance or broadcast; returns its payload. */
export const event = (name: string): Single => ({ op: "event", name });
/** The next signal of this name; returns its payload. */
export const signal = (name: string): Single => ({ op: "signal", name });
/**
 * The variable of this name, once it is set from outside: an outcome like any other. It opens no
 * ticket, so it is used in a race with something that does.
 */
export const assigned = (name: string): Single => ({ op: "assigned", name });
/** A message of this name and key; returns its payload. */
export const message = (name: string, key = ""): Single => ({ op: "message", name, key });
/** Returns `{ winner, value }`. */
export const race = (members: Readonly<Record<string, Single>>): Operation => ({
  op: "race",
  members,
});

type Entry = Readonly<{ op: Operation; outcome?: Outcome }>;
type Outcome = Readonly<{ value: Json } | { failure: string }>;
type State = Readonly<{ input: Variables; journal: readonly Entry[]; result?: Json }>;

/** Runs the workflow that a definition names, of those that are passed in. */
export function generatorRunner(
  workflows: ReadonlyMap<string, Workflow>,
): (definition: Definition) => Runner {
  return (definition) => ({
    async start(draft, { variables: input }) {
      draft.state = { input, journal: [] };
      advance(draft, workflowOf(definition, workflows));
    },
    async resume(draft, fact, ticket) {
      const outcome = outcomeOf(draft, fact, ticket);
      if (outcome === "none yet") return;
      if (outcome !== "replay") record(draft, ticket, outcome);
      advance(draft, workflowOf(definition, workflows));
    },
    patch() {
      throw new Refusal(
        "NON_DETERMINISM",
        "A workflow in code is replayed from its input, so its variables cannot be changed. Resolve this incident without variables.",
      );
    },
    async assign(draft, _, variables) {
      const wait = waitForAssigned(parseState(draft.state), variables);
      if (wait === undefined) {
        throw new Refusal(
          "NON_DETERMINISM",
          "A workflow in code is replayed from its input, so its variables cannot be changed.",
        );
      }
      record(draft, wait, { value: wait.value });
      advance(draft, workflowOf(definition, workflows));
    },
    occurrences: () => 0,
    terminate(draft) {
      for (const { element } of draft.tickets) note(draft, "element-terminated", element);
    },
    callInput: (_, { variables }) => variables,
    taskInput({ state }, { ref }) {
      const single = singleAt(parseState(state), ref);
      return { variables: single.op === "task" ? single.input : {}, headers: {} };
    },
    view: ({ state, tickets }) => ({
      variables: parseState(state).input,
      tokens: [...Map.groupBy(tickets, ({ element }) => element)].map(([element, open]) => ({
        element,
        count: open.length,
      })),
    }),
    places: (state) => placesIn(parseState(state)),
    result: ({ state }) => parseState(state).result ?? null,
  });
}

function placesIn({ input, journal, result }: State): readonly Place[] {
  return [
    ...Object.keys(input).map((name) => ["input", name]),
    ...journal.flatMap(({ outcome }, position) =>
      outcome && "value" in outcome ? [["journal", position, "outcome", "value"]] : [],
    ),
    ...(result === undefined ? [] : [["result"]]),
  ];
}

/** A definition that names a workflow, with its runner. */
export function aWorkflow(workflow: Workflow, name = "workflow"): Program {
  const definition: Definition = {
    id: name,
    version: 1,
    hash: "hash",
    notation: "code",
    body: { runner: "code", program: { workflow: name, engine: "none" } },
    elements: [name],
    startEvents: [],
  };
  return { definition, runner: generatorRunner(new Map([[name, workflow]]))(definition) };
}

const RACERS = 100;
const positionOf = (ref: number): number => Math.floor(ref / RACERS);

function parseState(json: Json): State {
  return json === null ? { input: {}, journal: [] } : (json as State);
}

function workflowOf({ body }: Definition, workflows: ReadonlyMap<string, Workflow>): Workflow {
  const { workflow: name } = (body.runner === "code" ? body.program : {}) as { workflow: string };
  const workflow = workflows.get(name);
  if (workflow === undefined) throw new Error(`No workflow is called "${name}".`);
  return workflow;
}

function outcomeOf(
  draft: Draft,
  fact: TicketFact,
  ticket: Ticket,
): Outcome | "replay" | "none yet" {
  if (fact.kind === "incident-resolved") {
    closeTicket(draft, ticket.id);
    note(draft, "incident-resolved", ticket.element, { incidentId: ticket.id });
    return "replay";
  }
  if (fact.kind === "child-refused") return { failure: fact.message };
  note(draft, fact.kind, ticket.element, dataOf(fact));
  if (fact.kind === "task-completed") return { value: fact.variables };
  if ("payload" in fact) return { value: fact.payload };
  if (fact.kind !== "task-failed" || ticket.on !== "task") return { value: null };
  const retried = fact.code === undefined ? retryTask(draft, ticket, fact) : undefined;
  return retried?.ok && retried.value ? "none yet" : { failure: fact.message };
}

function dataOf(fact: TicketFact): Json | undefined {
  if (fact.kind === "signal-received") return { broadcastId: fact.broadcastId, wait: fact.ticket };
  if (fact.kind === "message-received") return { messageId: fact.messageId };
  return fact.kind === "event-received" ? { eventId: fact.eventId, wait: fact.ticket } : undefined;
}

/** Records the outcome, closes the ticket and, by rule 4, those it was racing against. */
function record(
  draft: Draft,
  { ref, element }: Pick<Ticket, "ref" | "element">,
  outcome: Outcome,
): void {
  const state = parseState(draft.state);
  const position = positionOf(ref);
  closeTickets(
    draft,
    (open) => open.on !== "incident" && !isDeadline(open) && positionOf(open.ref) === position,
  );
  markCompleted(draft, element);
  enterInJournal(draft, ref, outcome);
  const journal = state.journal.map((entry, at) =>
    at === position ? { ...entry, outcome: won(entry.op, ref, outcome) } : entry,
  );
  draft.state = { ...state, journal };
}

/** The wait of the newest operation that one of these variables ends, and the value that it has. */
function waitForAssigned({ journal }: State, variables: Variables) {
  const { op, outcome } = journal.at(-1) ?? {};
  if (op?.op !== "race" || outcome !== undefined) return undefined;
  for (const [place, single] of Object.values(op.members).entries()) {
    const value = single.op === "assigned" ? variables[single.name] : undefined;
    if (value === undefined) continue;
    return { ref: (journal.length - 1) * RACERS + place, element: elementOf(single), value };
  }
  return undefined;
}

const isDeadline = (ticket: Ticket): boolean => ticket.on === "timer" && ticket.deadline === true;

function won(op: Operation, ref: number, outcome: Outcome): Outcome {
  if (op.op !== "race" || "failure" in outcome) return outcome;
  const winner = Object.keys(op.members)[ref % RACERS] ?? "";
  return { value: { winner, value: outcome.value } };
}

function advance(draft: Draft, workflow: Workflow): void {
  const state = parseState(draft.state);
  const next = replay(draft, state, workflow);
  if (next === undefined) return;
  draft.state = { ...state, journal: [...state.journal, { op: next }] };
  open(draft, next, state.journal.length * RACERS);
}

/** The next operation of the workflow; nothing while it waits, and when it has ended. */
function replay(draft: Draft, state: State, workflow: Workflow): Operation | undefined {
  const generator = workflow(state.input);
  try {
    let next = generator.next();
    for (const [at, { op, outcome }] of state.journal.entries()) {
      if (next.done || JSON.stringify(next.value) !== JSON.stringify(op)) {
        mismatch(draft, at, op, next.done ? "its end" : JSON.stringify(next.value));
        return undefined;
      }
      if (outcome === undefined) return undefined;
      next =
        "failure" in outcome
          ? generator.throw(new Error(outcome.failure))
          : generator.next(outcome.value);
    }
    if (!next.done) return next.value;
    draft.state = { ...state, result: next.value };
    end(draft, "succeeded", "success");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    end(draft, "failed", "failure", { message: why });
  }
  return undefined;
}

function mismatch(draft: Draft, at: number, expected: Operation, found: string): void {
  const message = `Replay reached ${found} where the journal has ${JSON.stringify(expected)}.`;
  raiseIncident(draft, { type: "NON_DETERMINISM", message, ref: at * RACERS, element: "replay" });
}

function open(draft: Draft, operation: Operation, ref: number): void {
  const singles = operation.op === "race" ? Object.values(operation.members) : [operation];
  for (const [place, single] of singles.entries()) {
    const element = elementOf(single);
    note(draft, "element-entered", element);
    if (single.op === "assigned") continue;
    openTicket(draft, { ...wantedBy(draft, single), ref: ref + place, element });
  }
}

/** Tasks are named by their type, timers have no name, all else is named by what it waits for. */
function elementOf(single: Single): string {
  if (single.op === "task") return single.type;
  return single.op === "timer" ? "timer" : `${single.op}:${single.name}`;
}

type Wanted = NewTicket extends infer T
  ? T extends NewTicket
    ? Omit<T, "ref" | "element">
    : never
  : never;

function wantedBy(draft: Draft, single: Exclude<Single, { op: "assigned" }>): Wanted {
  switch (single.op) {
    case "task":
      return { on: "task", type: single.type, retries: single.retries, attempt: 1 };
    case "timer":
      return { on: "timer", dueAt: instantFrom(draft.now + single.ms) };
    case "event":
    case "signal":
      return { on: single.op, name: single.name };
    case "message": {
      const { name, key } = single;
      if (isPairTaken(draft, { name, key })) throw takenRefusal(draft, { name, key });
      return { on: "message", name, key };
    }
  }
}

function singleAt({ journal }: State, ref: number): Single {
  const operation = journal[positionOf(ref)]?.op ?? timer(0);
  if (operation.op !== "race") return operation;
  return Object.values(operation.members)[ref % RACERS] ?? timer(0);
}
