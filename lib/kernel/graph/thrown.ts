/**
 * A path that throws a signal does not catch it itself; a parallel branch may.
 *
 * 1. A token knows the records in the outbox through which its path has thrown, for as long as they
 *    stand there: once a record is gone, its signal was broadcast, and what waits from then on waits
 *    for later ones.
 * 2. A path goes along flows, into scopes and out of them, through joins, and from the host of a
 *    boundary event to what follows the event.
 */
import type { Variables } from "../../definition/json.ts";
import { MAX_PAYLOAD_BYTES } from "../../definition/limits.ts";
import { emit, note } from "../draft.ts";
import { broadcastIdOf } from "../instance.ts";
import { jsonBytes } from "../json-bytes.ts";
import { Refusal } from "../refusal.ts";
import type { Run } from "./run.ts";
import type { Token } from "./state.ts";

/** Ids of outbox records. */
export type Thrown = readonly string[];

/** Those that may still be on their way. */
export function standing({ draft }: Pick<Run, "draft">, thrown: Thrown = []): Thrown {
  return thrown.filter((id) => draft.outbox.some((record) => record.id === id));
}

/** What comes together, each once. */
export function together(paths: readonly (Thrown | undefined)[]): Thrown {
  return [...new Set(paths.flatMap((thrown) => thrown ?? []))];
}

/** A token with what its path has thrown; without the field when that is nothing. */
export function onPath(run: Pick<Run, "draft">, token: Token, thrown: Thrown): Token {
  const { thrown: _, ...bare } = token;
  const kept = standing(run, thrown);
  return kept.length > 0 ? { ...bare, thrown: kept } : bare;
}

/** Throws a signal from a token, with the token's own variables, and goes on at once. */
export function throwSignal(run: Run, token: Token, name: string): void {
  const { draft } = run;
  const payload: Variables = token.variables ?? {};
  demandSmall(name, payload);
  const record = emit(draft, { kind: "publish-signal", name, payload });
  const broadcastId = broadcastIdOf(draft.before.id, record);
  note(draft, "signal-thrown", token.node, { broadcastId, name });
  run.tokens.set(token.id, onPath(run, token, together([token.thrown, [record]])));
}

function demandSmall(name: string, payload: Variables): void {
  const bytes = jsonBytes(payload);
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  throw new Refusal(
    "IO_MAPPING_ERROR",
    `The payload of the signal "${name}" has ${bytes} bytes, ${MAX_PAYLOAD_BYTES} is the limit. Map less into the event that throws it.`,
  );
}
