/**
 * Feeding a workflow: by a live session, or by one that has replayed the journal. Either gives the
 * same.
 */
import type { Definition } from "../../definition/definition.ts";
import { MAX_LOST_TRIES } from "../../definition/limits.ts";
import type { Feed, GuestProgram, Ran } from "../../definition/sandbox.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import type { Draft } from "../draft.ts";
import { Refusal } from "../refusal.ts";
import { type JournalEntry, runOf } from "../trail.ts";
import { doneOf, type Elements, type Recorded } from "./journal.ts";
import { demandRan, LostMachine, replay } from "./replay.ts";
import type { Life, Session, Sessions } from "./sessions.ts";
import type { CodeState } from "./state.ts";

/** What a runner of one definition has at hand. */
export type CodeProgram = Readonly<{
  definition: Definition;
  /** The id of the workflow in the bundle. */
  workflow: string;
  /** Loads the bundle on first use. */
  load: () => Promise<GuestProgram>;
  sessions?: Sessions;
}>;

/** The same, with what the runner adds to it. */
export type Running = CodeProgram & Readonly<{ sessions: Sessions; elements: Elements }>;

/** What an outcome leads to: known from an earlier decision of this step, or from a session. */
export async function feedOutcome(
  running: Running,
  draft: Draft,
  { state, recorded, digest }: Readonly<{ state: CodeState; recorded: Recorded; digest: string }>,
): Promise<Ran> {
  const { sessions } = running;
  const life = lifeOf(draft);
  const known = sessions.memo(life, digest);
  if (known) return known;
  return untilNotLost(sessions, life, {
    kept: sessions.checkOut(life, state.d),
    open: () => replayed(running, draft, life, state),
    feed: { now: draft.now, done: doneOf(recorded) },
    digest,
  });
}

/** What is fed, to a session that is kept or else to one that is opened for it. */
type Feeding = Readonly<{
  kept?: Session | undefined;
  open: () => Promise<Session>;
  feed: Feed;
  /** The digest after it. */
  digest: string;
}>;

/** A machine that is gone through no fault of the code costs another replay, within bounds. */
async function untilNotLost(sessions: Sessions, life: Life, feeding: Feeding): Promise<Ran> {
  let { kept } = feeding;
  for (let tries = 1; ; tries++) {
    try {
      return await feedSession(sessions, life, kept ?? (await feeding.open()), feeding);
    } catch (cause) {
      if (!(cause instanceof LostMachine) || tries >= MAX_LOST_TRIES) throw cause;
      kept = undefined;
    }
  }
}

async function feedSession(
  sessions: Sessions,
  life: Life,
  session: Session,
  { feed: fed, digest }: Feeding,
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
  session.memos.push({ digest, ran });
  sessions.checkIn(life, session);
  return ran;
}

/** What the workflow does before its first outcome. */
export async function feedStart(
  running: Running,
  draft: Draft,
  life: Life,
  state: CodeState,
): Promise<Ran> {
  return untilNotLost(running.sessions, life, {
    open: () => opened(running, draft, life, state),
    feed: { now: runOf(draft.before) },
    digest: state.d,
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
  life: Life,
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
  return { guest, digest: "", memos: [], life };
}

/** Which run this is, for its sessions. */
export const lifeOf = ({ before }: Draft): Life => ({
  id: before.id,
  runAt: runOf(before),
  definitionHash: before.definition.hash,
  startHash: before.startHash,
  version: before.version,
});
