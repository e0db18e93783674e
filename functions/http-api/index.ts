import { remoteCompiler } from "../../lib/adapters/lambda/compiler.ts";
import { compilerClient } from "../aws-clients.ts";
import { composeEngine } from "../composition.ts";
import { parseSettings } from "../settings.ts";
import { declaredHandlers, readManifest } from "../task-manifest.ts";
import { httpApi } from "./handler.ts";

const { compileFunction: functionName } = parseSettings(process.env, "compileFunction");
const compiler = remoteCompiler({ client: compilerClient(), functionName, notation: "bpmn" });

const { engine, bench, telemetry } = composeEngine({
  env: process.env,
  service: "http-api",
  handlers: declaredHandlers(readManifest()),
  compilers: { bpmn: compiler },
});

export const handler = telemetry.told(httpApi(engine, bench));
