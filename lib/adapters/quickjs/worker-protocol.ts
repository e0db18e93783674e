import type { Declared, LoadProblem, Opening } from "../../definition/sandbox.ts";
import type { TextFeed, TextRan } from "./program.ts";

/** What the host asks of the thread; `id` numbers requests from 1. Nothing is answered to `close`. */
export type Request = Readonly<
  | { kind: "load"; id: number; program: number; bundle: string }
  /** The first run of a session brings its opening. */
  | {
      kind: "run";
      id: number;
      session: number;
      program: number;
      opening?: Opening;
      feeds: readonly TextFeed[];
    }
  /** `isBroken`: its machine is of no further use. */
  | { kind: "close"; id: number; session: number; isBroken: boolean }
>;

export type Answer = Readonly<
  | { id: number; declared: Declared }
  | { id: number; problem: LoadProblem }
  | { id: number; ran: readonly TextRan[] }
>;
