/**
 * What the code runner keeps in an instance. The journal is not in it: that is a field of the
 * instance, which grows without being written again.
 */
import { type Json, variablesIn } from "../../definition/json.ts";
import type { CallOptions, Site } from "../../definition/sandbox.ts";
import { Refusal } from "../refusal.ts";
import type { Place } from "../runner.ts";

export type CodeState = Readonly<{
  /** The input of the workflow; absent where it was started without one. */
  i?: Json;
  /** The digest of the journal so far. */
  d: string;
  /** Open operations, in the order of their numbers. */
  o: readonly OpenOperation[];
  /** Operations whose tasks share a ticket: the members of the batch that has this `ref`. */
  b?: Readonly<Record<string, readonly number[]>>;
  /** Bytes of the journal so far; absent while they are few. */
  j?: number;
  /** What the workflow has returned, while tasks that it did not wait for are open. */
  r?: Json;
}>;

/** `site` is where it was called; a task also has its input, and options if there are any. */
export type OpenOperation = readonly [
  n: number,
  site: Site | 0,
  input?: Json,
  options?: CallOptions,
];

export const EMPTY: CodeState = { d: "", o: [] };

/** The stored state, to decide about. */
export function parseState(state: Json): CodeState {
  if (isState(state)) return state;
  throw new Refusal("NON_DETERMINISM", DAMAGED);
}

/**
 * The same for readers: an instance that has not started has none, and one that is damaged can still
 * be looked at, stored and cancelled.
 */
export const readState = (state: Json): CodeState => (isState(state) ? state : EMPTY);

const isState = (state: Json): state is Json & CodeState => {
  const { d, o } = variablesIn(state);
  return typeof d === "string" && Array.isArray(o) && o.every(isOperation);
};

const isOperation = (operation: unknown): boolean =>
  Array.isArray(operation) && typeof operation[0] === "number";

const DAMAGED =
  "The stored state of the workflow is damaged: a digest and a list of open operations are expected.";

/** A state as it is stored. */
export const stateJson = (state: CodeState): Json => state as unknown as Json;

export const operationAt = ({ o }: CodeState, n: number): OpenOperation | undefined =>
  o.find(([number]) => number === n);

export const withOperation = (state: CodeState, operation: OpenOperation): CodeState => ({
  ...state,
  o: [...state.o, operation],
});

/** The state without an operation that has its outcome, or lost. */
export const withoutOperation = (state: CodeState, n: number): CodeState => ({
  ...state,
  o: state.o.filter(([number]) => number !== n),
});

/** Where values of users stand: the input, the inputs of open tasks, the result. */
export function placesIn({ i, o, r }: CodeState): readonly Place[] {
  return [
    ...(i === undefined ? [] : within(i, ["i"])),
    ...o.flatMap(([, , input], at) => (input === undefined ? [] : within(input, ["o", at, 2]))),
    ...(r === undefined ? [] : [["r"]]),
  ];
}

/** An object part by part, so that a large part can be stored once wherever it is used. */
function within(value: Json, place: Place): readonly Place[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [place];
  return Object.keys(value).map((name) => [...place, name]);
}
