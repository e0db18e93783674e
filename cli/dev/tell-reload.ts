import type { Reload } from "../../lib/embedded/index.ts";
import { diagnosticLine } from "../diagnostic-line.ts";

/** Logs what became of saved files, also that files which could not be used can be used again. */
export function reloadTeller(note: (line: string) => void): (reload: Reload) => void {
  let wasRefused = false;
  return (reload) => {
    const isRefused = reload.kind === "refused";
    if (wasRefused && !isRefused) note("The saved files can be used again.");
    wasRefused = isRefused;
    linesOf(reload).forEach(note);
  };
}

function linesOf(reload: Reload): readonly string[] {
  switch (reload.kind) {
    case "unchanged":
      return [];
    case "refused":
      return [
        "The saved files cannot be used; the engine goes on with what it had:",
        ...reload.diagnostics.map((told) => diagnosticLine("workflows", told)),
      ];
    case "reloaded": {
      const { deployed, handlers, removed, warnings } = reload;
      return [
        ...deployed.map(({ id, version }) => `${id} version ${version} deployed.`),
        ...(handlers.length === 0 ? [] : [`Steps loaded again: ${handlers.join(", ")}.`]),
        ...removed.map((file) => `${file} is gone; what it has deployed stays.`),
        ...warnings.map((told) => diagnosticLine("workflows", told)),
      ];
    }
  }
}
