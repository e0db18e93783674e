/** Deploying: every process of a source or none, in one commit. */
import type { Compiled, Definition } from "../../definition/definition.ts";
import type { Compilation, Compiler, Diagnostic } from "../../definition/diagnostic.ts";
import { MAX_PROCESSES_PER_SOURCE, MAX_TRIES_AT_DEFINITION } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Write } from "../../ports/store.ts";
import type { Deployment, Source } from "../../shapes/definitions.ts";
import { viewProcess } from "../instances/views.ts";
import { replaceStarts } from "../rows/start-rows.ts";
import { bodyText } from "../storage/formats.ts";
import { definitionPk } from "../storage/keys.ts";
import { type Latest, latestWrite, readLatest, spreadOf, versionWrite } from "../storage/latest.ts";
import { writeParts } from "../storage/programs.ts";
import { again, retrying } from "../storage/retrying.ts";
import {
  NO_CHANGE,
  rearmTimers,
  replaceTimers,
  type TimerChange,
  withTimers,
} from "../timer-starts/replace.ts";
import type { World } from "../world.ts";

/** Stores a new version of each process that changed; an identical source changes nothing. */
export async function deploy(world: World, { notation, source }: Source): Promise<Deployment> {
  const compilation = await compilerFor(world, notation)(source);
  if (!compilation.ok) throw refused(compilation.diagnostics);
  const { processes, diagnostics: warnings } = compilation;
  if (processes.length > MAX_PROCESSES_PER_SOURCE) throw tooMany(processes.length);
  const sourceHash = world.ids.digest(`${notation}\n${source}`);
  const where = `definition ${processes.map(({ id }) => id).join(", ")}`;
  return retrying(world, { tries: MAX_TRIES_AT_DEFINITION, where }, async () => {
    const planned = await Promise.all(processes.map((it) => planOne(world, it, sourceHash)));
    const definitions = planned.map(({ definition: it }) => ({ ...viewProcess(it), warnings }));
    const changed = planned.filter(({ writes }) => writes.length > 0);
    const [first, ...rest] = changed.flatMap(({ writes }) => writes);
    if (first === undefined) return { created: false, definitions };
    for (const { definition } of changed) await storeTexts(world, definition, sourceHash, source);
    const outcome = await world.store.commit([first, ...rest]);
    if (outcome.kind !== "committed") return again(outcome);
    for (const { timers } of changed) await rearmTimers(world, timers);
    return { created: true, definitions };
  });
}

/** What deploying would say, without storing anything. */
export async function validate(
  world: World,
  { notation, source }: Source,
): Promise<{ valid: boolean; diagnostics: readonly Diagnostic[] }> {
  const compilation: Compilation = await compilerFor(world, notation)(source);
  return { valid: compilation.ok, diagnostics: compilation.diagnostics };
}

type Planned = Readonly<{ definition: Definition; writes: readonly Write[]; timers: TimerChange }>;

async function planOne(world: World, compiled: Compiled, sourceHash: string): Promise<Planned> {
  const { id } = compiled;
  const hash = world.ids.digest(`${sourceHash}\n${id}${pinOf(compiled)}`);
  const found = await readLatest(world, id);
  const isIdentical = found?.latest.hash === hash;
  if (found && isIdentical && found.latest.state !== "undeployed") {
    const definition = { ...compiled, hash, version: found.latest.version };
    return { definition, writes: [], timers: NO_CHANGE };
  }
  // What was undeployed and comes back unchanged is the same version again.
  const version = (found?.latest.version ?? 0) + (isIdentical ? 0 : 1);
  const state = found?.latest.state === "disabled" ? "disabled" : "enabled";
  const definition = { ...compiled, hash, version };
  const run = (found?.item.version ?? 0) + 1;
  const { startEvents: events } = compiled;
  const before = found?.latest;
  const rows = await replaceStarts(world, { definitionId: id, before, events, v: run });
  const bare: Latest = {
    ...{ id, version, hash, sourceHash, state, starts: rows.starts },
    // Instances of the versions before stay where they are.
    ...spreadOf(found?.latest ?? {}),
  };
  const timers = await replaceTimers(world, { before, next: bare, events, run });
  return {
    definition,
    writes: [
      latestWrite(world, withTimers(bare, timers), found?.item),
      ...(isIdentical ? [] : [versionWrite(world, definition, sourceHash)]),
      ...rows.writes,
      ...timers.writes,
    ],
    timers,
  };
}

/** The same text in another sandbox is another version. */
const pinOf = ({ body }: Compiled): string =>
  body.runner === "code" ? `\n${body.program.engine}` : "";

/** Texts go first: a head never names what is not there. */
async function storeTexts(
  world: World,
  definition: Definition,
  sourceHash: string,
  source: string,
): Promise<void> {
  const pk = definitionPk(world.settings.tenant, definition.id);
  const compiled = { pk, what: "V", hash: definition.hash } as const;
  await writeParts(world, compiled, bodyText("definition", definition));
  await writeParts(world, { pk, what: "X", hash: sourceHash }, source);
}

function compilerFor(world: World, notation: Source["notation"]): Compiler {
  const compiler = Object.hasOwn(world.compilers, notation) ? world.compilers[notation] : undefined;
  if (compiler) return compiler;
  const known = Object.keys(world.compilers).join(", ");
  throw new EngineError("definition/notation-unknown", {
    happened: `This engine does not read the notation "${notation}"`,
    where: "notation",
    fix: `Deploy one of: ${known}.`,
  });
}

function refused(diagnostics: readonly Diagnostic[]): EngineError {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return new EngineError("definition/invalid", {
    happened: `The source cannot run: ${errors} ${errors === 1 ? "problem" : "problems"}`,
    where: "source",
    fix: "Fix every problem that is listed; nothing was stored.",
    details: diagnostics,
  });
}

const tooMany = (count: number): EngineError =>
  new EngineError("request/invalid", {
    happened: `The source holds ${count} processes, ${MAX_PROCESSES_PER_SOURCE} is the limit`,
    where: "source",
    fix: "Split it into several files.",
  });
