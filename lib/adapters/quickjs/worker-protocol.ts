/**
 * What the host and the thread tell each other, as texts: that takes a third of the time of cloning
 * objects. Most requests bring one outcome to a session, and most answers are one task; these are
 * written as numbers and one JSON value, everything else as JSON.
 */
import type { Declared, LoadProblem, Opening, Ran } from "../../definition/sandbox.ts";
import type { FeedText } from "./program.ts";

/** What the host asks of the thread. Nothing is answered to `close`. */
export type Request = Readonly<
  | { kind: "load"; program: number; bundle: string }
  | RunRequest
  | { kind: "close"; session: number }
>;

/** The first run of a session brings its opening. */
export type RunRequest = Readonly<{
  kind: "run";
  session: number;
  program: number;
  opening?: Opening;
  feeds: readonly FeedText[];
}>;

/** Requests are numbered from 1. */
export type Numbered = Readonly<{ id: number; request: Request }>;

export type Answer = Readonly<
  | { id: number; declared: Declared }
  | { id: number; problem: LoadProblem }
  | { id: number; ran: readonly Ran[] }
>;

export function writeRequest({ id, request }: Numbered): string {
  const feed = request.kind === "run" && !request.opening ? only(request.feeds) : undefined;
  if (request.kind !== "run" || feed?.done === undefined) return JSON.stringify({ id, request });
  return `${id} ${request.session} ${request.program} ${feed.now} ${feed.done}`;
}

/** Both sides are the same code, so that nothing has to be checked. */
export function readRequest(text: string): Numbered {
  if (text.startsWith("{")) return JSON.parse(text);
  const [[id = 0, session = 0, program = 0, now = 0], done] = numbersIn(text, 4);
  return { id, request: { kind: "run", session, program, feeds: [{ now, done }] } };
}

export function writeAnswer(answer: Answer, types: KnownTypes): string {
  const ran = "ran" in answer ? only(answer.ran) : undefined;
  const task = ran?.kind === "ran" && !ran.end && !ran.isUnknown ? only(ran.operations) : undefined;
  if (task?.op !== "task" || task.options || !task.at) return JSON.stringify(answer);
  const type = types.numberOf(task.type);
  if (type === undefined) return JSON.stringify(answer);
  const [line, column] = task.at;
  return `${answer.id} ${task.n} ${line} ${column} ${type} ${JSON.stringify(task.input)}`;
}

export function readAnswer(text: string, types: KnownTypes): Answer {
  if (text.startsWith("{")) return JSON.parse(text);
  const [[id = 0, n = 0, line = 0, column = 0, type = 0], input] = numbersIn(text, 5);
  const task = { op: "task", n, at: [line, column], type: types.nameOf(type) } as const;
  return { id, ran: [{ kind: "ran", operations: [{ ...task, input: JSON.parse(input) }] }] };
}

/**
 * Types of the steps of loaded programs, by numbers. Both sides give the same ones, since answers are
 * read in the order in which they were written.
 */
export class KnownTypes {
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** Takes up what an answer declares, when it is written and when it is read. */
  learn(answer: Answer): void {
    if (!("declared" in answer)) return;
    for (const name of answer.declared.steps) {
      if (this.#numbers.has(name)) continue;
      this.#numbers.set(name, this.#names.length);
      this.#names.push(name);
    }
  }

  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  nameOf(number: number): string {
    return this.#names[number] ?? "";
  }
}

/** So many numbers at the beginning of a text, and the rest of it. */
function numbersIn(text: string, count: number): [numbers: readonly number[], rest: string] {
  const numbers: number[] = [];
  let from = 0;
  while (numbers.length < count) {
    const end = text.indexOf(" ", from);
    numbers.push(Number(text.slice(from, end)));
    from = end + 1;
  }
  return [numbers, text.slice(from)];
}

const only = <T>(list: readonly T[]): T | undefined => (list.length === 1 ? list[0] : undefined);
