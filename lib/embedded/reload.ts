import type { Diagnostic } from "../definition/diagnostic.ts";
import type { DeployedView } from "../shapes/definitions.ts";

/** What became of saved files. Unless all of the code can be used, everything stays as it was. */
export type Reload = Readonly<
  | {
      kind: "reloaded";
      /** New versions; what did not change is not deployed again. */
      deployed: readonly DeployedView[];
      /** The task types whose handlers were replaced or are new. */
      handlers: readonly string[];
      /** Workflow files that are gone. Their definitions and handlers stay. */
      removed: readonly string[];
      warnings: readonly Diagnostic[];
    }
  | { kind: "unchanged" }
  | { kind: "refused"; diagnostics: readonly Diagnostic[] }
>;
