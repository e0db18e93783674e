import type { Diagnostic } from "../definition/diagnostic.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { DeployedView } from "../shapes/definitions.ts";
import type { LibraryCalls } from "./library-calls.ts";
import { placedBy } from "./place-diagnostics.ts";

/** What was deployed, without what has not changed, and what is suspicious; or all problems. */
export type DeployedBundles = Readonly<
  | { ok: true; deployed: readonly DeployedView[]; warnings: readonly Diagnostic[] }
  | { ok: false; diagnostics: readonly Diagnostic[] }
>;

/** A bundle, and the file that it was made of. */
export type FileBundle = Readonly<{ path: string; bundle: string }>;

/** Deploys every bundle, or none. */
export async function deployBundles(
  engine: Pick<LibraryCalls, "deploy" | "validate">,
  bundles: readonly FileBundle[],
): Promise<DeployedBundles> {
  // One alone is deployed or refused as a whole.
  const refused = bundles.length > 1 ? await refusedOf(engine, bundles) : [];
  if (refused.length > 0) return { ok: false, diagnostics: refused };
  const deployed: DeployedView[] = [];
  const warnings: Diagnostic[] = [];
  for (const one of bundles) {
    const result = await deployOne(engine, one);
    if (!result.ok) return result;
    deployed.push(...result.deployed);
    warnings.push(...result.warnings);
  }
  return { ok: true, deployed, warnings };
}

async function refusedOf(
  engine: Pick<LibraryCalls, "validate">,
  bundles: readonly FileBundle[],
): Promise<readonly Diagnostic[]> {
  const checked = await Promise.all(
    bundles.map(async ({ path, bundle }) => {
      const { valid, diagnostics } = await engine.validate(sourceOf(bundle));
      return valid ? [] : diagnostics.map((found) => placedBy(path, found));
    }),
  );
  return checked.flat();
}

async function deployOne(
  engine: Pick<LibraryCalls, "deploy">,
  { path, bundle }: FileBundle,
): Promise<DeployedBundles> {
  try {
    const { created, definitions } = await engine.deploy(sourceOf(bundle));
    // Each definition of a bundle has the warnings of the whole bundle.
    const warnings = (definitions[0]?.warnings ?? []).map((found) => placedBy(path, found));
    return { ok: true, deployed: created ? definitions : [], warnings };
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "definition/invalid") throw error;
    const found = error.details as readonly Diagnostic[];
    return { ok: false, diagnostics: found.map((one) => placedBy(path, one)) };
  }
}

const sourceOf = (bundle: string) => ({ notation: "code" as const, source: bundle });

/** Warnings of two sources, each once. */
export function allWarnings(
  first: readonly Diagnostic[],
  second: readonly Diagnostic[],
): readonly Diagnostic[] {
  const nameOf = ({ code, file, line, message }: Diagnostic) =>
    JSON.stringify([code, file, line, message]);
  const known = new Set(first.map(nameOf));
  return [...first, ...second.filter((one) => !known.has(nameOf(one)))];
}
