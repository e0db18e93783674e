import type { Reload } from "../../lib/embedded/index.ts";
import { diagnosticLine } from "../diagnostic-line.ts";

/** What became of saved files, in lines for the log. */
export function reloadLines(reload: Reload): readonly string[] {
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
