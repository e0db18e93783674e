/**
 * Runs workflows in code: replays their journal in a sandbox, and turns what they ask for into
 * tickets.
 *
 * 1. Outcomes are fed one at a time, in the order in which they came: the next one only when the
 *    code waits again.
 * 2. The code sees the time of the journal, never that of the host.
 * 3. What a session is worth is told by the digest of the journal, see `sessions.ts`.
 * 4. A workflow that has returned waits for its open tasks, and for nothing else; their timeouts
 *    stay armed.
 */
import type { Definition } from "../../definition/definition.ts";
import { MAX_JOURNAL_BYTES_PER_RUN, MAX_OPERATIONS_PER_RUN } from "../../definition/limits.ts";
import type { GuestProgram, Ran, Sandbox } from "../../definition/sandbox.ts";
import { closeTicket, type Draft, enterInJournal, markCompleted, note } from "../draft.ts";
import type { TicketFact } from "../fact.ts";
import { holdsFailedItems } from "../failed-items.ts";
import type { Ticket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import type { Runner } from "../runner.ts";
import { addedValues } from "./added-values.ts";
import { digestAfter, digestOf } from "./digest.ts";
import { type CodeProgram, feedOutcome, feedStart, lifeOf, type Running } from "./feed.ts";
import { endWhenDone, finish, hasTasks } from "./finish.ts";
import { elementsOf, type Recorded, written } from "./journal.ts";
import {
  applyOperations,
  closeOperation,
  isDeadline,
  numberOf,
  reopenItems,
} from "./open-operations.ts";
import { outcomesOf } from "./outcome.ts";
import { demandRan, LostMachine } from "./replay.ts";
import { Sessions } from "./sessions.ts";
import {
  type CodeState,
  EMPTY,
  operationAt,
  parseState,
  placesIn,
  readState,
  stateJson,
} from "./state.ts";
import { countAll, noteTerminated, openIn, taskInput, viewOf } from "./view.ts";

/** The runner of one definition in code. */
export function codeRunner(program: CodeProgram): Runner {
  const running: Running = {
    ...program,
    sessions: program.sessions ?? new Sessions(),
    elements: elementsOf(program.definition.elements),
  };
  return {
    start: (draft, { variables, input = variables, isBare }) =>
      begin(running, draft, isBare ? {} : { i: input }),
    resume: (draft, fact, ticket) => resume(running, draft, fact, ticket),
    patch: () => {
      throw new Refusal(
        "NON_DETERMINISM",
        `${UNCHANGEABLE} Resolve this incident without variables.`,
      );
    },
    isFixed: true,
    assign: async () => {
      throw new Refusal("NON_DETERMINISM", UNCHANGEABLE);
    },
    // Of deadlines and timeouts their authors could not know: the sandbox counts operations as well.
    openCount: ({ state }) => readState(state).o.length,
    addedValues,
    occurrences: (instance, element) =>
      countAll(openIn(instance).filter((ticket) => ticket.element === element)),
    terminate: (draft) => {
      running.sessions.discard(lifeOf(draft));
      noteTerminated(draft, openIn(draft));
    },
    taskInput: ({ state }, ticket) => taskInput(readState(state), ticket),
    itemTitle: ({ state }, item) =>
      `Operation ${numberOf(readState(state), item)}, ${JSON.stringify(item.element)}`,
    callInput: (_, { variables }) => variables,
    view: viewOf,
    places: (state) => placesIn(readState(state)),
    result: ({ state }) => readState(state).r ?? null,
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
  if (loaded.problem.stopped === "lost") throw new LostMachine();
  throw new Error(`The bundle could not be loaded: ${loaded.problem.message}`);
}

const UNCHANGEABLE =
  "A workflow in code is replayed from its input, so its variables cannot be changed.";

async function begin(running: Running, draft: Draft, input: Pick<CodeState, "i">): Promise<void> {
  const state: CodeState = { ...EMPTY, ...input, d: digestOf(input.i) };
  const life = lifeOf(draft);
  const known = running.sessions.memo(life, state.d);
  const ran = known ?? (await feedStart(running, draft, life, state));
  await feedAll(running, draft, carryOn(running, draft, { state, ran }));
  demandAwake(running, draft);
}

async function resume(
  running: Running,
  draft: Draft,
  fact: TicketFact,
  ticket: Ticket,
): Promise<void> {
  if (fact.kind === "incident-resolved" && holdsFailedItems(ticket)) {
    closeTicket(draft, ticket.id);
    note(draft, "incident-resolved", ticket.element, { incidentId: ticket.id });
    reopenItems(draft, ticket, fact.retries);
    return;
  }
  const outcomes = outcomesOf(draft, parseState(draft.state), fact, ticket);
  await feedAll(running, draft, outcomes);
  demandAwake(running, draft);
}

/** Feeds outcomes one after the other; those that one leads to at once come before the rest. */
async function feedAll(
  running: Running,
  draft: Draft,
  outcomes: readonly Recorded[],
): Promise<void> {
  const queue = [...outcomes];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const before = parseState(draft.state);
    // An outcome before it may have disarmed this one, or ended the instance.
    if (draft.ended || operationAt(before, next.n) === undefined) continue;
    const { ran, state } = await take(running, draft, before, next);
    queue.unshift(...carryOn(running, draft, { state, ran }));
  }
}

/** Takes one outcome: into the journal, out of the open operations, and into the session. */
async function take(running: Running, draft: Draft, state: CodeState, recorded: Recorded) {
  const outcome = written(running.elements, recorded);
  const text = JSON.stringify(outcome);
  const digest = digestAfter(state.d, `[${recorded.n},${draft.now},${text}]`);
  const hasReturned = state.r !== undefined;
  const ran = hasReturned
    ? NOTHING
    : await feedOutcome(running, draft, { state, recorded, digest });
  enterInJournal(draft, recorded.n, outcome);
  markCompleted(draft, recorded.element);
  const weighed = text.length > FEW_BYTES ? { j: (state.j ?? 0) + text.length } : {};
  const after = { ...closeOperation(draft, state, recorded.n), ...weighed, d: digest };
  demandRoom(after, recorded);
  return { ran, state: after };
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

/** Applies what a feed led to: the instance waits again, or ends. Returns outcomes that are there at once. */
function carryOn(
  running: Running,
  draft: Draft,
  { state, ran }: Readonly<{ state: CodeState; ran: Ran }>,
): readonly Recorded[] {
  const { operations, end: ended } = demandRan(ran);
  const { state: after, atOnce } = applyOperations(draft, state, operations);
  draft.state = stateJson(after);
  if (ended) finish(running.sessions, draft, after, ended);
  else if (after.r !== undefined) endWhenDone(running.sessions, draft, after);
  return atOnce;
}

/** The instance has ended, or something can wake it; what only waits is kept while there is room. */
function demandAwake(running: Running, draft: Draft): void {
  if (draft.ended || hasTasks(draft)) return;
  if (!draft.tickets.some((ticket) => !isDeadline(ticket))) throw new Refusal("DEADLOCK", STUCK);
  running.sessions.rest(lifeOf(draft));
}

const STUCK =
  "The workflow waits for a promise that no operation will ever settle. Wait for operations of fermata-engine/workflow only.";
