import type { Client, Diagnostic } from "../lib/client/index.ts";
import type { Told } from "./diagnostic-line.ts";
import { type BundledSource, placedBeside } from "./read-source.ts";

/** Everything that is known of a workflow in code: what was found here, and what only the server knows. */
export function allFindings<T extends Told>(
  { file, diagnostics }: BundledSource,
  told: readonly T[],
): readonly (Diagnostic | T)[] {
  const known = new Set(diagnostics.map(keyOf));
  const placed = told.map((one) => placedBeside(file, one));
  return [...diagnostics, ...placed.filter((one) => !known.has(keyOf(one)))];
}

/** Both sides make the same analysis. */
const keyOf = ({ code, file, line, message }: Told): string =>
  JSON.stringify([code, file, line, message]);

/**
 * What a server finds in a bundle that was refused here, such as steps that no handler serves;
 * nothing if it cannot be asked.
 */
export async function askAbout(
  client: Pick<Client, "validateCode">,
  { bundle }: BundledSource,
): Promise<readonly Diagnostic[]> {
  if (bundle === undefined) return [];
  try {
    const { diagnostics } = await client.validateCode(bundle);
    return diagnostics.filter(({ code }) => !LOADING.has(code));
  } catch {
    return [];
  }
}

/** A program that lacks modules fails when it is loaded, which says nothing new. */
const LOADING: ReadonlySet<string> = new Set(["code/load-threw", "code/load-stopped"]);
