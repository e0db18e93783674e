import type { Json } from "../../definition/json.ts";
import { MAX_PAYLOAD_BYTES } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";

/** Throws where a payload takes more bytes than are carried to those who wait for it. */
export function checkPayloadSize(payload: Json): void {
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  throw new EngineError("request/body-too-large", {
    happened: `The payload takes ${bytes} bytes, ${MAX_PAYLOAD_BYTES} is the limit`,
    where: "payload",
    fix: "Keep large values elsewhere and send references to them.",
  });
}
