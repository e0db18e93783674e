import { composeEngine } from "../composition.ts";
import { perMessage } from "../middleware/per-message.ts";
import { declaredHandlers, readManifest } from "../task-manifest.ts";
import { fanOutSignal } from "./handler.ts";

const { engine, bench, telemetry } = composeEngine({
  env: process.env,
  service: "fan-out-signal",
  handlers: declaredHandlers(readManifest()),
  setsAside: true,
});

export const handler = telemetry.told(perMessage(fanOutSignal(engine), bench));
