import { composeEngine } from "../composition.ts";
import { perInstance } from "../middleware/per-instance.ts";
import { declaredHandlers, readManifest } from "../task-manifest.ts";
import { advanceInstance } from "./handler.ts";

const { engine, bench, telemetry } = composeEngine({
  env: process.env,
  service: "advance",
  handlers: declaredHandlers(readManifest()),
  setsAside: true,
});

export const handler = telemetry.told(perInstance(advanceInstance(engine), bench));
