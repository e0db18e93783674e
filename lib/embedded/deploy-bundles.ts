import type { Diagnostic } from "../definition/diagnostic.ts";
import type { DeployedView } from "../shapes/definitions.ts";
import type { LibraryCalls } from "./library-calls.ts";

/** What was deployed, without what has not changed, and what is suspicious; or all problems. */
export type DeployedBundles = Readonly<
  | { ok: true; deployed: readonly DeployedView[]; warnings: readonly Diagnostic[] }
  | { ok: false; diagnostics: readonly Diagnostic[] }
>;

/** Deploys every bundle, or none. One that is refused alone is refused by an error. */
export async function deployBundles(
  engine: Pick<LibraryCalls, "deploy" | "validate">,
  bundles: readonly string[],
): Promise<DeployedBundles> {
  const sources = bundles.map((source) => ({ notation: "code" as const, source }));
  // One alone is deployed or refused as a whole.
  const checked = await Promise.all(
    sources.length > 1 ? sources.map((source) => engine.validate(source)) : [],
  );
  const refused = checked.filter(({ valid }) => !valid);
  if (refused.length > 0) {
    return { ok: false, diagnostics: refused.flatMap(({ diagnostics }) => diagnostics) };
  }
  const deployed: DeployedView[] = [];
  const warnings: Diagnostic[] = [];
  for (const source of sources) {
    const { created, definitions } = await engine.deploy(source);
    if (created) deployed.push(...definitions);
    // Each definition of a bundle has the warnings of the whole bundle.
    warnings.push(...(definitions[0]?.warnings ?? []));
  }
  return { ok: true, deployed, warnings };
}

/** Warnings of two sources, each once. */
export function allWarnings(
  first: readonly Diagnostic[],
  second: readonly Diagnostic[],
): readonly Diagnostic[] {
  const nameOf = ({ code, line, message }: Diagnostic) => JSON.stringify([code, line, message]);
  const known = new Set(first.map(nameOf));
  return [...first, ...second.filter((one) => !known.has(nameOf(one)))];
}
