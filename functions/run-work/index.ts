import { composeEngine } from "../composition.ts";
import { perMessage } from "../middleware/per-message.ts";
import { declaredHandlers, readManifest } from "../task-manifest.ts";
import { runWork } from "./handler.ts";

const { engine, bench, telemetry } = composeEngine({
  env: process.env,
  service: "run-work",
  handlers: declaredHandlers(readManifest()),
  setsAside: true,
});

export const handler = telemetry.told(perMessage(runWork(engine), bench));
