/**
 * Runs workflows in code: replays their journal in a sandbox, and turns what they ask for into
 * tickets.
 *
 * 1. Outcomes are fed one at a time, in the order in which they came: the next one only when the
 *    code waits again.
 * 2. The code sees the time of the journal, never that of the host.
 * 3. What a session is worth is told by the digest of the journal, see `sessions.ts`.
 * 4. A workflow that has returned waits for its open tasks, and for nothing else.
 */
import type { Definition } from "../../definition/definition.ts";
import { type Json, variablesIn } from "../../definition/json.ts";
import { MAX_JOURNAL_BYTES_PER_RUN, MAX_OPERATIONS_PER_RUN } from "../../definition/limits.ts";
import type { GuestEnd, GuestProgram, Ran, Sandbox } from "../../definition/sandbox.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import {
  closeTickets,
  type Draft,
  end,
  enterInJournal,
  markCompleted,
  noteVisit,
} from "../draft.ts";
import type { TicketFact } from "../fact.ts";
import type { Instance, Ticket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import type { Runner, TaskInput } from "../runner.ts";
import { type JournalEntry, runOf } from "../trail.ts";
import { digestAfter, NO_ENTRIES } from "./digest.ts";
import { doneOf, type Elements, elementsOf, type Recorded, written } from "./journal.ts";
import {
  applyOperations,
  closeOperation,
  isDeadline,
  numberOf,
  operationsOf,
} from "./open-operations.ts";
import { outcomesOf } from "./outcome.ts";
import { demandRan, LostMachine, replay } from "./replay.ts";
import { type Life, type Session, Sessions } from "./sessions.ts";
import { type CodeState, EMPTY, operationAt, parseState, placesIn, stateJson } from "./state.ts";

/** What a runner of one definition has at hand. */
export type CodeProgram = Readonly<{
  definition: Definition;
  /** The id of the workflow in the bundle. */
  workflow: string;
  /** Loads the bundle on first use. */
  load: () => Promise<GuestProgram>;
  sessions?: Sessions;
}>;

/** The runner of one definition in code. */
export function codeRunner(program: CodeProgram): Runner {
  const running: Running = {
    ...program,
    sessions: program.sessions ?? new Sessions(),
    elements: elementsOf(program.definition.elements),
  };
  return {
    start: (draft, { variables, input = variables }) => begin(running, draft, input),
    resume: (draft, fact, ticket) => resume(running, draft, fact, ticket),
    patch: () => {
      throw new Refusal(
        "NON_DETERMINISM",
        `${UNCHANGEABLE} Resolve this incident without variables.`,
      );
    },
    assign: async () => {
      throw new Refusal("NON_DETERMINISM", UNCHANGEABLE);
    },
    occurrences: ({ tickets }, element) =>
      tickets.filter((ticket) => ticket.element === element && !isDeadline(ticket)).length,
    terminate: (draft) => {
      running.sessions.discard(lifeOf(draft));
      noteDropped(draft, parseState(draft.state), () => true);
    },
    taskInput: ({ state }, ticket) => taskInput(parseState(state), ticket),
    callInput: (_, { variables }) => variables,
    view: (instance) => view(instance),
    places: (state) => placesIn(parseState(state)),
    result: ({ state }) => parseState(state).r ?? null,
  };
}

/** Runners of definitions in one sandbox; they share the room for sessions. */
export function codeRunners(
  sandbox: Sandbox,
  sessions: Sessions = new Sessions(),
): (definition: Definition, source: () => Promise<string>) => Runner {
  return (definition, source) => {
    const { body } = definition;
    if (body.runner !== "code") throw new Error("The code runner runs code.");
    let loading: Promise<GuestProgram> | undefined;
    const load = () => {
      loading ??= loadFrom(sandbox, source).catch((cause) => {
        // What failed for now may succeed later.
        loading = undefined;
        throw cause;
      });
      return loading;
    };
    return codeRunner({ definition, workflow: body.program.workflow, load, sessions });
  };
}

async function loadFrom(sandbox: Sandbox, source: () => Promise<string>): Promise<GuestProgram> {
  const loaded = await sandbox.load(await source());
  if (loaded.ok) return loaded.program;
  throw new Error(`The bundle could not be loaded: ${loaded.problem.message}`);
}

const UNCHANGEABLE =
  "A workflow in code is replayed from its input, so its variables cannot be changed.";

type Running = CodeProgram & Readonly<{ sessions: Sessions; elements: Elements }>;

async function begin(running: Running, draft: Draft, input: Json): Promise<void> {
  const state: CodeState = { ...EMPTY, i: input };
  const life = lifeOf(draft);
  const known = running.sessions.memo(life, NO_ENTRIES);
  const ran = known ?? (await firstFeed(running, draft, life, state));
  await carryOn(running, draft, { state, ran });
}

async function resume(
  running: Running,
  draft: Draft,
  fact: TicketFact,
  ticket: Ticket,
): Promise<void> {
  const state = parseState(draft.state);
  const outcomes = outcomesOf(draft, state, fact, ticket);
  if (outcomes.length > 0) await feedAll(running, draft, { state, outcomes });
}

/** Feeds outcomes one after the other, and those that come of that at once. */
async function feedAll(
  running: Running,
  draft: Draft,
  { state: first, outcomes }: Readonly<{ state: CodeState; outcomes: readonly Recorded[] }>,
): Promise<void> {
  let state = first;
  for (const recorded of outcomes) {
    // An outcome before it may have disarmed this one, or ended the instance.
    if (draft.ended || operationAt(state, recorded.n) === undefined) continue;
    const { ran, after } = await take(running, draft, state, recorded);
    await carryOn(running, draft, { state: after, ran });
    state = parseState(draft.state);
  }
}

/** Takes one outcome: into the journal, out of the open operations, and into the session. */
async function take(running: Running, draft: Draft, state: CodeState, recorded: Recorded) {
  const outcome = written(running.elements, recorded);
  const entry: JournalEntry = [recorded.n, draft.now, outcome];
  const digest = digestAfter(state.d, entry);
  const hasReturned = state.r !== undefined;
  const ran = hasReturned ? NOTHING : await feed(running, draft, { state, recorded, digest });
  enterInJournal(draft, recorded.n, outcome);
  markCompleted(draft, recorded.element);
  const bytes = JSON.stringify(outcome).length;
  const weighed = bytes > FEW_BYTES ? { j: (state.j ?? 0) + bytes } : {};
  const after = { ...closeOperation(draft, state, recorded.n), ...weighed, d: digest };
  demandRoom(after, recorded);
  return { ran, after };
}

const NOTHING: Ran = { kind: "ran", operations: [] };

/** Outcomes of fewer bytes are not counted: as many as a run may have are far below the limit. */
const FEW_BYTES = 256;

function demandRoom({ j = 0 }: CodeState, { n }: Recorded): void {
  if (n < MAX_OPERATIONS_PER_RUN && j <= MAX_JOURNAL_BYTES_PER_RUN) return;
  throw new Refusal(
    "STEP_LIMIT",
    `One run may have ${MAX_OPERATIONS_PER_RUN - 1} operations and ${MAX_JOURNAL_BYTES_PER_RUN / 1_000_000} MB of results. Divide the work among several instances.`,
  );
}

/** What an outcome leads to: known from an earlier decision of this step, or from a session. */
async function feed(
  running: Running,
  draft: Draft,
  { state, recorded, digest }: Readonly<{ state: CodeState; recorded: Recorded; digest: string }>,
): Promise<Ran> {
  const { sessions } = running;
  const life = lifeOf(draft);
  const known = sessions.memo(life, digest);
  if (known) return known;
  const fed = { now: draft.now, done: doneOf(recorded) };
  const kept = sessions.checkOut(life, state.d);
  return untilNotLost(async (isFirst) => {
    const session = (isFirst ? kept : undefined) ?? (await replayed(running, draft, life, state));
    return feedSession(sessions, life, session, { feed: fed, digest });
  });
}

/** A machine that is gone through no fault of the code costs another replay, within bounds. */
async function untilNotLost(run: (isFirst: boolean) => Promise<Ran>): Promise<Ran> {
  for (let tries = 1; ; tries++) {
    try {
      return await run(tries === 1);
    } catch (cause) {
      if (!(cause instanceof LostMachine) || tries >= MAX_TRIES) throw cause;
    }
  }
}

const MAX_TRIES = 3;

async function feedSession(
  sessions: Sessions,
  life: Life,
  session: Session,
  {
    feed: fed,
    digest,
  }: Readonly<{ feed: Parameters<Session["guest"]["run"]>[0][number]; digest: string }>,
): Promise<Ran> {
  const [ran] = await session.guest.run([fed]);
  if (ran?.kind !== "ran") {
    session.guest.close();
    return demandRan(ran);
  }
  if (ran.isUnknown) {
    session.guest.close();
    throw new Refusal("NON_DETERMINISM", `The workflow has no operation ${fed.done?.n} open.`);
  }
  session.digest = digest;
  session.memos.set(digest, ran);
  sessions.checkIn(life, session);
  return ran;
}

async function firstFeed(
  running: Running,
  draft: Draft,
  life: Life,
  state: CodeState,
): Promise<Ran> {
  const fed = { now: runOf(draft.before) };
  return untilNotLost(async () => {
    const session = await opened(running, draft, life, state);
    return feedSession(running.sessions, life, session, { feed: fed, digest: NO_ENTRIES });
  });
}

/** A session that has seen the whole journal. */
async function replayed(
  running: Running,
  draft: Draft,
  life: Life,
  state: CodeState,
): Promise<Session> {
  const entries = journalOf(draft);
  const session = await opened(running, draft, life, state);
  try {
    const runAt = runOf(draft.before);
    await replay(session.guest, { elements: running.elements, runAt, entries, state });
  } catch (cause) {
    session.guest.close();
    throw cause;
  }
  session.digest = state.d;
  return session;
}

/** The whole journal: what has left the instance is read by the engine, and the step is made anew. */
function journalOf({ before, journal, pastJournal }: Draft): readonly JournalEntry[] {
  const { next, entries } = before.journal ?? { next: 1, entries: [] };
  const gone = next - 1 - entries.length;
  if (gone === 0) return [...entries, ...journal];
  const past = pastJournal();
  if (past === undefined || past.length < gone) throw new Error(JOURNAL_MISSING);
  return [...past.slice(0, gone), ...entries, ...journal];
}

const JOURNAL_MISSING = "A part of the journal that the replay needs is not stored.";

async function opened(
  { load, workflow }: Running,
  { before }: Draft,
  { version }: Life,
  state: CodeState,
): Promise<Session> {
  const program = await load();
  const guest = program.open({
    workflow,
    input: state.i,
    seed: `${before.id} ${runOf(before)}`,
    instance: {
      id: before.id,
      ...(before.businessKey !== undefined && { businessKey: before.businessKey }),
      definition: { id: before.definition.id, version: before.definition.version },
      startedAt: formatInstant(before.startedAt),
    },
  });
  return { guest, digest: NO_ENTRIES, memos: new Map(), version };
}

const lifeOf = ({ before }: Draft): Life => ({
  instanceId: before.id,
  runAt: runOf(before),
  version: before.version,
});

/** Applies what a feed led to; then the instance waits again, or ends. */
async function carryOn(
  running: Running,
  draft: Draft,
  { state, ran }: Readonly<{ state: CodeState; ran: Ran }>,
): Promise<void> {
  const { operations, end: ended } = demandRan(ran);
  const { state: after, atOnce } = applyOperations(draft, state, operations);
  draft.state = stateJson(after);
  if (ended) finish(running, draft, after, ended);
  else if (after.r !== undefined) endWhenDone(running, draft, after);
  else if (atOnce.length > 0) await feedAll(running, draft, { state: after, outcomes: atOnce });
  if (draft.ended || hasTasks(draft)) return;
  if (!draft.tickets.some((ticket) => !isDeadline(ticket))) throw new Refusal("DEADLOCK", STUCK);
  running.sessions.rest(lifeOf(draft));
}

const STUCK =
  "The workflow waits for a promise that no operation will ever settle. Wait for operations of fermata-engine/workflow only.";

/** The workflow has returned or thrown. */
function finish(running: Running, draft: Draft, state: CodeState, ended: GuestEnd): void {
  if ("error" in ended) {
    running.sessions.discard(lifeOf(draft));
    noteDropped(draft, state, () => true);
    end(draft, "failed", "failure", ended.error);
    return;
  }
  const returned = { ...state, r: ended.value };
  noteDropped(draft, state, (open) => !isWork(open));
  closeTickets(draft, (open) => !isDeadline(open) && !isWork(open));
  const open = new Set(draft.tickets.filter(isWork).flatMap((it) => operationsOf(state, it)));
  const left = { ...returned, o: returned.o.filter(([n]) => open.has(n)) };
  draft.state = stateJson(left);
  endWhenDone(running, draft, left);
}

/** History tells which operations have no outcome any more; a timeout is told with its task. */
function noteDropped(draft: Draft, state: CodeState, isDropped: (ticket: Ticket) => boolean): void {
  const dropped = draft.tickets.filter((open) => !isDeadline(open) && isDropped(open));
  for (const [n] of state.o) {
    const ticket = dropped.find((open) => operationsOf(state, open).includes(n));
    if (ticket) noteVisit(draft, "element-terminated", { element: ticket.element, occurrence: n });
  }
}

/** What still has to be done after the return: tasks that nobody waits for any more. */
const isWork = ({ on }: Ticket): boolean => on === "task" || on === "family" || on === "incident";

const hasTasks = ({ tickets }: Draft): boolean =>
  tickets.some(({ on }) => on === "task" || on === "family");

function endWhenDone(running: Running, draft: Draft, state: CodeState): void {
  if (draft.tickets.some(isWork)) return;
  running.sessions.discard(lifeOf(draft));
  draft.state = stateJson({ ...state, o: [] });
  end(draft, "succeeded", "success");
}

function taskInput(state: CodeState, ticket: Extract<Ticket, { on: "task" }>): TaskInput {
  const [, , input = null] = operationAt(state, numberOf(state, ticket)) ?? [];
  return { variables: variablesIn(input), input, headers: {} };
}

function view({ state, tickets }: Instance): ReturnType<Runner["view"]> {
  const open = tickets.filter((ticket) => !isDeadline(ticket));
  const { i: input, o } = parseState(state);
  return {
    variables: variablesIn(input),
    input,
    sites: new Map(o.flatMap(([n, site]) => (site === 0 ? [] : [[n, site] as const]))),
    tokens: [...Map.groupBy(open, ({ element }) => element)].map(([element, all]) => ({
      element,
      count: all.length,
    })),
  };
}
