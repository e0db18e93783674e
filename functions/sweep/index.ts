import { composeEngine } from "../composition.ts";
import { declaredHandlers, readManifest } from "../task-manifest.ts";
import { sweepAll } from "./handler.ts";

const { engine, bench, telemetry, settings } = composeEngine({
  env: process.env,
  service: "sweep",
  handlers: declaredHandlers(readManifest()),
});

const withWheel = settings.timerBackend === "wheel";

export const handler = telemetry.told(
  sweepAll(engine, { clock: bench.clock, telemetry, withWheel }),
);
