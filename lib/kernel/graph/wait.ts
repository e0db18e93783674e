/**
 * What an element waits for: a timer, a signal, a message; its own, those of the boundary events
 * that it is host to, and for an event-based gateway those of the catch events behind it.
 *
 * 1. Everything is computed before anything is opened, and stays as it was computed.
 * 2. All waits of an element open together, or none does: a message and key that another wait holds
 *    already is thrown as an error from the element that wanted to wait for it.
 * 3. A wait of a non-interrupting boundary event stays open when its signal or message arrives.
 * 4. A wait ignores signals that its own path has thrown.
 */
import type { Computed } from "../../definition/expression.ts";
import { MAX_NAME_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { CORRELATION_TAKEN, isPairTaken, type Pair, takenMessage } from "../correlation.ts";
import { openTicket } from "../draft.ts";
import { broadcastIdOf, type MessageTicket, type SignalTicket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { NOTHING_SEEN } from "../seen.ts";
import { throwError } from "./error.ts";
import { demand } from "./evaluate.ts";
import { spotOf, type Wanted } from "./plan.ts";
import type { Run } from "./run.ts";
import type { Token } from "./state.ts";
import { type Arming, armingOf } from "./timer.ts";
import { lookupFrom } from "./variables.ts";

/** A wait that has been computed and is not open yet. */
type Wait = Readonly<{ element: string }> &
  (
    | (Arming & Readonly<{ on: "timer" }>)
    | Pick<SignalTicket, "on" | "name" | "taken">
    | Pick<MessageTicket, "on" | "name" | "key" | "stays">
  );

/** Computes everything that an element will wait for; its boundary events come first. */
export async function waitsOf(run: Run, token: Token): Promise<readonly Wait[]> {
  const waits: Wait[] = [];
  for (const wanted of wantedAt(run, token)) {
    waits.push(await waitOf(run, token, wanted));
  }
  return waits;
}

/** A multi-instance body waits for its boundary events, an item for the element's own trigger. */
function wantedAt({ plan }: Run, { node: id, member }: Token): readonly Wanted[] {
  const { wanted, node } = spotOf(plan, id);
  if (node.loop === undefined) return wanted;
  return wanted.filter(({ element }) => (element === id) === (member !== undefined));
}

/** Opens waits of a token; returns false, and opens none, when one is taken already. */
export function openWaits(run: Run, token: Token, waits: readonly Wait[]): boolean {
  const { draft } = run;
  const taken = takenOf(run, waits);
  if (taken !== undefined) {
    throwError(run, token, { code: CORRELATION_TAKEN, message: takenMessage(draft, taken) });
    return false;
  }
  const notIds = (token.thrown ?? []).map((record) => broadcastIdOf(draft.before.id, record));
  for (const wait of waits) {
    const isDeaf = wait.on === "signal" && notIds.length > 0;
    openTicket(draft, { ...wait, ref: token.id, ...(isDeaf && { notIds }) });
    if (wait.on !== "timer") run.calls += 1;
  }
  return true;
}

/** The name of a signal or message; throws a refusal that says what is wrong with it. */
export async function nameFrom(run: Run, token: Token, of: Computed): Promise<string> {
  const name = await demand(run, { kind: "string", of, lookup: lookupFrom(run, token) });
  if (name !== "") return checked(name, "name of a signal or message");
  throw new Refusal("EXTRACT_VALUE_ERROR", "The name of a signal or message must not be empty.");
}

async function waitOf(run: Run, token: Token, { element, awaits, stays }: Wanted): Promise<Wait> {
  switch (awaits.on) {
    case "timer":
      return { on: "timer", element, ...(await armingOf(run, token, awaits.timer)) };
    case "signal": {
      const name = await nameFrom(run, token, awaits.signal);
      return { on: "signal", element, name, ...(stays && { taken: NOTHING_SEEN }) };
    }
    case "message": {
      const name = await nameFrom(run, token, awaits.message);
      const key = await keyFrom(run, token, awaits.key);
      return { on: "message", element, name, key, ...(stays && { stays }) };
    }
  }
}

async function keyFrom(run: Run, token: Token, of: Computed | undefined): Promise<string> {
  if (of === undefined) return "";
  return checked(
    await demand(run, { kind: "key", of, lookup: lookupFrom(run, token) }),
    "correlation key of a message",
  );
}

/** A text that does not fit in a key would block the step for ever, and could not be sent either. */
function checked(text: string, what: string): string {
  const problem = problemOf(text);
  if (problem === undefined) return text;
  throw new Refusal("EXTRACT_VALUE_ERROR", `The ${what} ${problem}: ${quoted(text)}.`);
}

function problemOf(text: string): string | undefined {
  const { length } = text;
  if (length > MAX_NAME_LENGTH) return `has ${length} characters, ${MAX_NAME_LENGTH} is the limit`;
  if (text.includes("\0")) return "has a NUL character, which no name can hold";
  if (!text.isWellFormed()) return "has half of a surrogate pair, which is no character";
  return undefined;
}

/** The first pair that is taken already, or that this element wants twice. */
function takenOf({ draft }: Run, waits: readonly Wait[]): Pair | undefined {
  const wanted = new Set<string>();
  for (const wait of waits) {
    if (wait.on !== "message") continue;
    const pair = JSON.stringify([wait.name, wait.key]);
    if (wanted.has(pair) || isPairTaken(draft, wait)) return wait;
    wanted.add(pair);
  }
  return undefined;
}
