import type { Definition } from "../../definition/definition.ts";
import type { Variables } from "../../definition/json.ts";
import {
  MAX_TRANSITIONS_PER_STEP,
  MAX_WAITS_PER_STEP,
  MAX_WORK_PER_DECISION,
} from "../../definition/limits.ts";
import { isBatch, openIn } from "../batch.ts";
import { closeTicket, type Draft, note } from "../draft.ts";
import type { StartInput, TicketFact } from "../fact.ts";
import { CALLS, holdsFailedItems } from "../failed-items.ts";
import type { IncidentTicket, Instance, Ticket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import type { Place, Runner, TokenCount } from "../runner.ts";
import { callAnew } from "./batch.ts";
import { bodyOf, localsOf, openItems, visibleTo } from "./batch-item.ts";
import { callAgain, childEnded, childRefused, childStarted } from "./call.ts";
import { enter } from "./enter.ts";
import { interruptInside } from "./interrupt.ts";
import { complete, leave } from "./leave.ts";
import { loopAt, type Plan, planOf, spotOf, taskAt } from "./plan.ts";
import { attempt, CONTINUE, closeRun, openRun, push, type Run, writeLocals } from "./run.ts";
import { type Settler, settle } from "./settle.ts";
import { type Move, type Phase, parseState, ROOT, type Token, tokenAt, treeOf } from "./state.ts";
import { offerAgain, taskCompleted, taskFailed } from "./task.ts";
import { userTaskInput } from "./user-task.ts";
import { propagate, visibleFrom } from "./variables.ts";
import { wake } from "./wake.ts";

/** Runs the flow graph that BPMN and journeys compile to. */
export function graphRunner(definition: Definition, settlers: readonly Settler[] = []): Runner {
  const plan = planOf(definition);
  const advance = (run: Run, round?: number) => moveOn(run, settlers, round);
  return {
    start: (draft, input) => advance(start(plan, draft, input)),
    resume: async (draft, fact, ticket) => {
      const run = openRun(plan, draft);
      await take(run, fact, ticket);
      return advance(run, ticket.on === "continuation" ? ticket.round : 0);
    },
    patch: (draft, ref, variables) => patch(plan, draft, ref, variables),
    assign: async (draft, scope, variables) => advance(assign(plan, draft, scope, variables)),
    occurrences: ({ state }, element) =>
      parseState(state).tokens.filter((token) => isOpen(token, element)).length,
    terminate: (draft) => terminate(plan, draft),
    taskInput: (instance, ticket) => {
      const tree = treeOf(parseState(instance.state));
      const token = tokenAt(tree, ticket.ref);
      const { headers = {}, loop, person } = taskAt(plan, token.node);
      const { member } = ticket;
      const variables =
        loop && member !== undefined
          ? visibleTo(tree, token, loop, member)
          : visibleFrom(tree, token);
      return person === undefined
        ? { variables, headers }
        : userTaskInput(plan, { ticket, spec: person, variables, headers });
    },
    callInput: ({ state }, { ref, member, variables }) => {
      if (member === undefined) return variables;
      const around = tokenAt(treeOf(parseState(state)), ref);
      return { ...variables, ...localsOf(loopAt(plan, around.node), bodyOf(around), member) };
    },
    view: (instance) => ({
      variables: rootVariables(instance),
      tokens: tokensOf(instance),
    }),
    places: (state) => parseState(state).tokens.flatMap(placesIn),
    result: rootVariables,
  };
}

function start(plan: Plan, draft: Draft, { variables, trigger }: StartInput): Run {
  const run = openRun(plan, draft);
  const root: Token = { id: ROOT, node: plan.root, in: ROOT, variables };
  run.tokens.set(ROOT, trigger ? { ...root, trigger } : root);
  push(run, "enter", ROOT);
  return run;
}

/** Moves all tokens until they wait and have settled, or until the step is long enough. */
async function moveOn(run: Run, settlers: readonly Settler[], round = 0): Promise<void> {
  let moved = await moveQueued(run, 0);
  while (settlers.length > 0 && (await settle(run, settlers))) moved = await moveQueued(run, moved);
  closeRun(run, round);
}

/** Makes the queued moves, after `before` earlier ones; returns how many the step has made now. */
async function moveQueued(run: Run, before: number): Promise<number> {
  let moved = before;
  for (const move of run.queue) {
    run.isFull = isTooMuch(run, move);
    if (moved === MAX_TRANSITIONS_PER_STEP || run.isFull || isSpent(run)) break;
    moved += 1;
    await make(run, move);
  }
  run.queue.splice(0, moved - before);
  return moved;
}

/** The next move could need more than the rest of the expression budget; a new step has all of it. */
function isSpent({ draft: { budget } }: Run): boolean {
  return budget.work < MAX_WORK_PER_DECISION / 2;
}

/**
 * A step stops before the element whose waits and signals would be more than one commit takes. The
 * plan counts them, before anything is computed. An element with too many for any step is entered
 * first in one.
 */
function isTooMuch(run: Run, move: Move): boolean {
  return run.calls > 0 && run.calls + callsOf(run, move) > MAX_WAITS_PER_STEP;
}

function callsOf({ plan, tokens }: Run, move: Move): number {
  const token = tokens.get(move.token);
  return token !== undefined && move.do === "enter" ? spotOf(plan, token.node).calls : 0;
}

/** Takes a token from phase to phase until it waits or is gone. */
async function make(run: Run, move: Move): Promise<void> {
  let phase: Phase | undefined = move.do;
  while (phase !== undefined) {
    const token = run.tokens.get(move.token);
    // Interrupted while it was queued.
    if (token === undefined) return;
    const part: (typeof PARTS)[Phase] = PARTS[phase];
    phase = await attempt<Phase | undefined>(run, { token, phase }, () => part(run, token));
  }
}

const PARTS = { enter, complete, leave } as const;

async function take(run: Run, fact: TicketFact, ticket: Ticket): Promise<void> {
  if (ticket.on === "timer" && fact.kind === "timer-due") return wake(run, { ticket, fact });
  if (ticket.on === "signal" && fact.kind === "signal-received") {
    return wake(run, { ticket, fact });
  }
  if (ticket.on === "message" && fact.kind === "message-received") {
    return wake(run, { ticket, fact });
  }
  if (ticket.on === "continuation") {
    note(run.draft, "continued");
    return goOn(run, ticket);
  }
  if (ticket.on === "task" && fact.kind === "task-completed") {
    return taskCompleted(run, ticket, fact.variables);
  }
  if (ticket.on === "task" && fact.kind === "task-failed") return taskFailed(run, ticket, fact);
  if (ticket.on === "child" && fact.kind === "child-ended") return childEnded(run, ticket, fact);
  if (ticket.on === "child" && fact.kind === "child-started") {
    return childStarted(run, ticket, fact.childId);
  }
  if (ticket.on === "child" && fact.kind === "child-refused") {
    return childRefused(run, ticket, fact.message);
  }
  if (ticket.on === "incident" && fact.kind === "incident-resolved") {
    return resolve(run, ticket, fact);
  }
  throw new Error(`A ${fact.kind} cannot be the outcome of the ${ticket.on} ${ticket.id}.`);
}

function goOn(run: Run, ticket: Ticket): void {
  closeTicket(run.draft, ticket.id);
  run.queue.push(...run.todo);
  run.todo = [];
}

/** Retries the phase that had failed. */
async function resolve(run: Run, ticket: IncidentTicket, fact: Resolved): Promise<void> {
  const token = tokenAt(run, ticket.ref);
  closeTicket(run.draft, ticket.id);
  note(run.draft, "incident-resolved", ticket.element, { incidentId: ticket.id });
  if (fact.variables) propagate(run, token, fact.variables);
  const { phase } = ticket;
  if (phase === CONTINUE) return goOn(run, ticket);
  if (holdsFailedItems(ticket)) {
    return phase === CALLS ? callAnew(run, ticket) : openItems(run, ticket, fact.retries);
  }
  if (phase === "run") return runAgain(run, ticket.ref, fact.retries);
  return push(run, phase === "complete" || phase === "leave" ? phase : "enter", token.id);
}

async function runAgain(run: Run, id: number, retries: number | undefined): Promise<void> {
  const token = tokenAt(run, id);
  const isCall = spotOf(run.plan, token.node).node.kind === "call";
  await attempt(run, { token, phase: "run" }, () =>
    isCall ? callAgain(run, token) : offerAgain(run, token, retries),
  );
}

type Resolved = Extract<TicketFact, { kind: "incident-resolved" }>;

/** Writes only the tokens: pending moves and tickets stay as they are. */
function patch(plan: Plan, draft: Draft, ref: number, variables: Variables): void {
  const run = openRun(plan, draft);
  propagate(run, tokenAt(run, ref), variables);
  draft.state = { ...parseState(draft.state), tokens: [...run.tokens.values()] };
}

/** Exactly in this scope: variables that it does not have yet become local to it. */
function assign(plan: Plan, draft: Draft, scope: string | undefined, variables: Variables): Run {
  const run = openRun(plan, draft);
  const open = [...run.tokens.values()].filter((token) =>
    scope === undefined ? token.id === ROOT : isOpen(token, scope),
  );
  const [only] = open;
  if (only === undefined || open.length > 1) {
    const where = scope === undefined ? "The process" : `The element ${scope}`;
    const message = `${where} is open ${open.length} times, and only one can be given variables.`;
    throw new Refusal("UNKNOWN", message);
  }
  writeLocals(run, only.id, variables);
  return run;
}

const isOpen = ({ id, node }: Token, element: string): boolean => id !== ROOT && node === element;

function terminate(plan: Plan, draft: Draft): void {
  const run = openRun(plan, draft);
  // An instance whose start could not be decided has no tokens yet.
  if (!run.tokens.has(ROOT)) return;
  interruptInside(run, ROOT);
  closeRun(run, 0);
}

function rootVariables(instance: Instance): Variables {
  const { tokens } = parseState(instance.state);
  return tokens.find((token) => token.id === ROOT)?.variables ?? {};
}

/** Local variables of a token, the payload of its trigger, each by name, and multi-instance lists. */
function placesIn({ variables = {}, trigger, body }: Token, position: number): readonly Place[] {
  const here = ["tokens", position] as const;
  return [
    ...Object.keys(variables).map((name) => [...here, "variables", name]),
    ...Object.keys(trigger?.payload ?? {}).map((name) => [...here, "trigger", "payload", name]),
    ...(body ? [[...here, "body", "items"]] : []),
    ...(body?.inputs ? [[...here, "body", "inputs"]] : []),
    ...(body?.outputs ?? []).map((_, page) => [...here, "body", "outputs", page]),
  ];
}

/**
 * A multi-instance body stands for its items. Items of a batch have no tokens of their own: they
 * are counted by its ticket. A body whose items all wait for an incident counts as one.
 */
function tokensOf(instance: Instance): readonly TokenCount[] {
  const counts = new Map<string, number>();
  const add = (element: string, more: number): void =>
    void counts.set(element, (counts.get(element) ?? 0) + more);
  for (const { id, node, body } of parseState(instance.state).tokens) {
    if (id !== ROOT) add(node, body === undefined ? 1 : 0);
  }
  for (const batch of instance.tickets.filter(isBatch)) add(batch.element, openIn(batch));
  return [...counts].map(([element, count]) => ({ element, count: Math.max(1, count) }));
}
