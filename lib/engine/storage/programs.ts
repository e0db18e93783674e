/** Definition versions, ready to run. They never change, so they are kept once loaded. */
import type { Definition } from "../../definition/definition.ts";
import { PART_BYTES } from "../../definition/limits.ts";
import type { Program } from "../../kernel/runner.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Store } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { parseText } from "./formats.ts";
import { perWorld } from "./in-process.ts";
import { putHint } from "./items.ts";
import { definitionPk, partKey, type TextName, versionKey } from "./keys.ts";
import { sound } from "./unreadable.ts";
import { parseVersion } from "./version-record.ts";

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
  const where = `definition ${ref.id} version ${ref.version}`;
  const program = sound(where, () => prepare(world, definition));
  if (programs.size >= MAX_KEPT_PROGRAMS) programs.delete(programs.keys().next().value ?? "");
  programs.set(name, program);
  return program;
}

/** Hands a definition to the runner of its body. */
function prepare(world: World, definition: Definition): Program {
  const { body } = definition;
  const { graph, code } = world.runners;
  const source = () => readSource(world, definition);
  const runner = body.runner === "graph" ? graph?.(definition) : code?.(definition, source);
  if (runner === undefined) {
    throw misconfigured(definition, `This engine has no runner for "${body.runner}" definitions`);
  }
  if (body.runner === "code" && world.sandbox && body.program.engine !== world.sandbox.engine) {
    throw misconfigured(
      definition,
      `The workflow is pinned to the sandbox ${body.program.engine}, and this engine has ${world.sandbox.engine}`,
    );
  }
  return { definition, runner };
}

/** What waits for it stays queued: another build of the engine can run it. */
const misconfigured = ({ id, version }: Definition, happened: string): EngineError =>
  new EngineError("engine/misconfigured", {
    happened,
    where: `definition ${id} version ${version}`,
    fix: "Run it with the engine build that deployed it.",
    retryable: true,
  });

/** The text that a stored version was deployed from. */
export async function readSource(world: World, definition: Definition): Promise<string> {
  const { id, version } = definition;
  const { tenant } = world.settings;
  const [item] = await world.store.get([versionKey(tenant, id, version)]);
  const record = item && parseVersion(item.body);
  const at = { pk: definitionPk(tenant, id), what: "X", hash: record?.sourceHash ?? "" } as const;
  const text = record && (await readParts(world.store, at));
  if (text === undefined) throw missing(definition);
  return text;
}

export const parseDefinition = (text: string): Definition =>
  parseText("definition", text) as Definition;

const missing = ({ id, version }: DefinitionRef): EngineError =>
  new EngineError("store/corrupt", {
    happened: "A definition version that an instance needs is not stored",
    where: `definition ${id} version ${version}`,
  });

// Long texts in parts of a size that every store takes. They are named by their content.

/** Stores a text; repeating it changes nothing. */
export async function writeParts(
  world: Pick<World, "store" | "clock">,
  at: TextName,
  text: string,
): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  const count = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
  for (let part = 0; part < count; part++) {
    const body = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
    await putHint(world, { key: partKey(at, part), version: count, body });
  }
}

/** Reads a text back; undefined when it is not there, or not whole. */
export async function readParts(store: Store, at: TextName): Promise<string | undefined> {
  const [first] = await store.get([partKey(at, 0)]);
  if (first === undefined) return undefined;
  const others = Array.from({ length: first.version - 1 }, (_, n) => partKey(at, n + 1));
  const rest = await store.get(others);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (const part of [first, ...rest]) {
    if (part === undefined) return undefined;
    text += sound(`${at.pk} / ${part.key.sk}`, () => decoder.decode(part.body, { stream: true }));
  }
  return text + sound(`${at.pk} / ${first.key.sk}`, () => decoder.decode());
}
