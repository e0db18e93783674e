import type { Declared, Feed, LoadProblem, Opening, Ran } from "../../definition/sandbox.ts";

/** What the host asks of the thread; `id` numbers requests from 1. */
export type Request = Readonly<
  | { kind: "load"; id: number; program: number; bundle: string }
  /** The first run of a session brings its opening. */
  | {
      kind: "run";
      id: number;
      session: number;
      program: number;
      opening?: Opening;
      feeds: readonly Feed[];
    }
  | { kind: "close"; id: number; session: number }
>;

export type Answer = Readonly<
  | { id: number; declared: Declared }
  | { id: number; problem: LoadProblem }
  | { id: number; ran: readonly Ran[] }
>;
