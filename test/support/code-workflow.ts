// Workflows in code, from source text to a program that plays or a bundle that is deployed.
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { quickjsSandbox } from "../../lib/adapters/quickjs/sandbox.ts";
import type { Definition } from "../../lib/definition/definition.ts";
import type { GuestProgram, Sandbox } from "../../lib/definition/sandbox.ts";
import { codeRunner } from "../../lib/kernel/code/code-runner.ts";
import { type SessionRoom, Sessions } from "../../lib/kernel/code/sessions.ts";
import type { Program } from "../../lib/kernel/runner.ts";

const SDK = fileURLToPath(new URL("../../lib/workflow/index.ts", import.meta.url));
const NAMES =
  "all, any, CancelledFailure, CorrelationTaken, delay, event, instance, message, now, publishSignal, race, random, scope, sendEvent, sendMessage, signal, sleep, sleepUntil, step, task, TaskFailed, TimedOut, uuid, workflow, WorkflowError";

const bundles = new Map<string, string>();

/** A bundle of this source text, which finds everything of the SDK imported. */
export function aBundle(source: string): string {
  const known = bundles.get(source);
  if (known !== undefined) return known;
  const built = buildSync({
    stdin: {
      contents: `import { ${NAMES} } from "fermata-engine/workflow";\n${source}`,
      loader: "ts",
    },
    alias: { "fermata-engine/workflow": SDK },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "__workflows",
    target: "es2023",
  });
  const text = built.outputFiles[0]?.text ?? "";
  bundles.set(source, text);
  return text;
}

/** A bundle with one workflow whose body is this text; `input` is its input. */
export const aBody = (body: string): string =>
  aBundle(`export const it = workflow("workflow", async (input: any) => {\n${body}\n});`);

const sandbox = quickjsSandbox();

/** The engine that definitions are pinned to. */
export const GUEST_ENGINE = sandbox.engine;

const loaded = new Map<string, Promise<GuestProgram>>();

/** The loaded bundle; each is loaded once. */
export function aGuest(bundle: string, of: Sandbox = sandbox): Promise<GuestProgram> {
  const known = of === sandbox ? loaded.get(bundle) : undefined;
  if (known) return known;
  const loading = of.load(bundle).then((result) => {
    if (result.ok) return result.program;
    throw new Error(`${result.problem.message}\n${result.problem.stack ?? ""}`);
  });
  if (of === sandbox) loaded.set(bundle, loading);
  return loading;
}

export function aCodeDefinition(id = "workflow"): Definition {
  return {
    id,
    version: 1,
    hash: "hash",
    notation: "code",
    body: {
      runner: "code",
      program: { workflow: id, engine: GUEST_ENGINE },
    },
    elements: [id, "timer", "work"],
    startEvents: [],
  };
}

/** A program that runs this body in the sandbox; `room` says how many sessions it keeps. */
export const aCode = (body: string, room?: SessionRoom): Program =>
  aCodeOn(() => aGuest(aBody(body)), room);

/** A program whose bundle is loaded by this function. */
export function aCodeOn(
  load: () => Promise<GuestProgram>,
  room?: SessionRoom,
  definition: Definition = aCodeDefinition(),
): Program {
  const sessions = new Sessions(room);
  return {
    definition,
    runner: codeRunner({ definition, workflow: "workflow", load, sessions }),
  };
}
