/** Replaying a journal in a fresh session, and what to say when it does not fit. */
import type {
  Feed,
  GuestSession,
  OpenedOperation,
  Operation,
  Ran,
  Site,
} from "../../definition/sandbox.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { Refusal } from "../refusal.ts";
import type { JournalEntry } from "../trail.ts";
import { digestAfter, digestOf } from "./digest.ts";
import { doneOf, type Elements, type Recorded, read } from "./journal.ts";
import { elementOf } from "./operation-name.ts";
import type { CodeState } from "./state.ts";

export type Replay = Readonly<{
  elements: Elements;
  /** When the run began: the time of the first feed. */
  runAt: Instant;
  entries: readonly JournalEntry[];
  state: CodeState;
}>;

/** Feeds the journal to the session; refuses when program and journal do not fit. */
export async function replay(
  session: GuestSession,
  { elements, runAt, entries, state }: Replay,
): Promise<void> {
  const recorded = entries.map((entry, at) => ({
    ...(read(elements, entry) ?? damaged(at + 1)),
    now: entry[1],
  }));
  const feeds: Feed[] = [
    { now: runAt },
    ...recorded.map((it) => ({ now: it.now, done: doneOf(it) })),
  ];
  const open = new Map<number, OpenedOperation>();
  const all = await session.run(feeds);
  for (const at of feeds.keys()) {
    const expected = recorded[at - 1];
    if (expected) checkFits(open, expected, at);
    const { operations, end } = demandRan(all[at]);
    if (end) throw ended(at);
    addOpen(open, operations);
  }
  const texts = entries.map((entry) => JSON.stringify(entry));
  if (texts.reduce(digestAfter, digestOf(state.i)) !== state.d) {
    throw mismatch("The journal does not have the digest that the instance was stored with.");
  }
  checkOpen(open, state);
}

/** Thrown when a machine is gone through no fault of the code: another one may take its place. */
export class LostMachine extends Error {
  override readonly name = "LostMachine";

  constructor() {
    super(GONE);
  }
}

const GONE =
  "The machine that ran the workflow was lost several times. Resolve this incident to run the step again.";

/** What a feed led to; a stop is a limit of the step, or a broken machine. */
export function demandRan(ran: Ran | undefined): Extract<Ran, { kind: "ran" }> {
  if (ran?.kind === "ran") return ran;
  if (ran === undefined || ran.stop === "lost") throw new LostMachine();
  if (ran.stop === "crash") throw new Error(ran.message);
  throw new Refusal("STEP_LIMIT", ran.message);
}

/** The outcome must be for an operation that is open, and has the same name. */
function checkFits(open: Map<number, OpenedOperation>, expected: Recorded, at: number): void {
  const found = open.get(expected.n);
  open.delete(expected.n);
  if (found && elementOf(found) === expected.element) return;
  throw mismatch(
    `Entry ${at} of the journal is the outcome of operation ${expected.n}, ${expected.element}; the workflow has ${found ? elementOf(found) : "no such operation open"} there.`,
    found?.at,
  );
}

function addOpen(open: Map<number, OpenedOperation>, operations: readonly Operation[]): void {
  for (const operation of operations) {
    if (operation.op === "close") open.delete(operation.n);
    else if (operation.op !== "publish") open.set(operation.n, operation);
  }
}

function checkOpen(open: ReadonlyMap<number, OpenedOperation>, { o }: CodeState): void {
  const expected = o.map(([n]) => n).join(", ");
  const found = [...open.keys()].toSorted((a, b) => a - b).join(", ");
  if (expected === found) return;
  throw mismatch(
    `The instance has the operations ${expected} open, the replayed workflow ${found || "none"}.`,
    siteOfDifference(open, o),
  );
}

/** Where an operation was called that is open on one side only. */
function siteOfDifference(
  open: ReadonlyMap<number, OpenedOperation>,
  expected: CodeState["o"],
): Site | undefined {
  const added = [...open.values()].find(({ n }) => expected.every(([other]) => other !== n));
  if (added) return added.at;
  const missing = expected.find(([n]) => !open.has(n));
  return missing?.[1] || undefined;
}

/** A workflow that has returned is not replayed: this one had not. */
const ended = (at: number): Refusal =>
  mismatch(
    `The instance is still running after entry ${at} of the journal; the replayed workflow has ended.`,
  );

const damaged = (at: number): never => {
  throw mismatch(`Entry ${at} of the journal is damaged.`);
};

const mismatch = (what: string, site?: Site): Refusal =>
  new Refusal("NON_DETERMINISM", `The replay does not fit the journal. ${what}`, site);
