import { composeEngine } from "../composition.ts";
import { perMessage } from "../middleware/per-message.ts";
import { declaredHandlers, readManifest } from "../task-manifest.ts";
import { giveUp } from "./handler.ts";

const { engine, bench, telemetry } = composeEngine({
  env: process.env,
  service: "dead-letters",
  handlers: declaredHandlers(readManifest()),
});

export const handler = telemetry.told(perMessage(giveUp(engine, telemetry), bench));
