/** Definition versions, ready to run. They never change, so they are kept once loaded. */
import type { Definition } from "../../definition/definition.ts";
import type { Program } from "../../kernel/runner.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { World } from "../world.ts";
import { parseText } from "./formats.ts";
import { definitionPk } from "./keys.ts";
import { readParts } from "./parts.ts";
import { perWorld } from "./per-world.ts";
import { sound } from "./unreadable.ts";

type DefinitionRef = Readonly<{ id: string; version: number; hash: string }>;

const MAX_KEPT_PROGRAMS = 500;
const programsOf = perWorld(() => new Map<string, Program>());

/** The program of a stored version. */
export async function loadProgram(world: World, ref: DefinitionRef): Promise<Program> {
  const programs = programsOf(world);
  const name = `${ref.id}\n${ref.version}\n${ref.hash}`;
  const known = programs.get(name);
  if (known) return known;
  const pk = definitionPk(world.settings.tenant, ref.id);
  const text = await readParts(world.store, { pk, what: "V", hash: ref.hash });
  if (text === undefined) throw missing(ref);
  const definition = { ...parseDefinition(text), version: ref.version };
  const program = sound(`definition ${ref.id} version ${ref.version}`, () =>
    prepare(world, definition),
  );
  if (programs.size >= MAX_KEPT_PROGRAMS) programs.delete(programs.keys().next().value ?? "");
  programs.set(name, program);
  return program;
}

/** Hands a definition to the runner of its body. */
export function prepare(world: World, definition: Definition): Program {
  const runner = world.runners[definition.body.runner];
  if (runner) return { definition, runner: runner(definition) };
  throw new EngineError("engine/misconfigured", {
    happened: `This engine has no runner for "${definition.body.runner}" definitions`,
    where: `definition ${definition.id} version ${definition.version}`,
    fix: "Run it with the engine build that deployed it.",
    retryable: true,
  });
}

export const parseDefinition = (text: string): Definition =>
  parseText("definition", text) as Definition;

const missing = ({ id, version }: DefinitionRef): EngineError =>
  new EngineError("store/corrupt", {
    happened: "A definition version that an instance needs is not stored",
    where: `definition ${id} version ${version}`,
    fix: "Restore the data folder from a backup that is whole.",
  });
