import type { Variables } from "../../definition/json.ts";
import { MAX_PAYLOAD_BYTES } from "../../definition/limits.ts";
import { emit, note } from "../draft.ts";
import { broadcastIdOf } from "../instance.ts";
import { jsonBytes } from "../json-bytes.ts";
import { Refusal } from "../refusal.ts";
import { onPath, together } from "./path.ts";
import type { Run } from "./run.ts";
import type { Token } from "./state.ts";

/** Throws a signal from a token, with the token's own variables, and continues at once. */
export function throwSignal(run: Run, token: Token, name: string): void {
  const { draft } = run;
  const payload: Variables = token.variables ?? {};
  demandSmall(name, payload);
  const record = emit(draft, { kind: "publish-signal", name, payload });
  const broadcastId = broadcastIdOf(draft.before.id, record);
  note(draft, "signal-thrown", token.node, { broadcastId, name });
  run.tokens.set(token.id, onPath(token, together([token.thrown, [record]])));
  run.calls += 1;
}

function demandSmall(name: string, payload: Variables): void {
  const bytes = jsonBytes(payload);
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  throw new Refusal(
    "IO_MAPPING_ERROR",
    `The payload of the signal "${name}" has ${bytes} bytes, ${MAX_PAYLOAD_BYTES} is the limit. Map less into the event that throws it.`,
  );
}
