import type { Compiled, Definition } from "../../../lib/definition/definition.ts";
import { aProcess } from "../../support/graph-builder.ts";

/** A process, as a front end would return it. */
export function graph(id: string, ...[pieces, flows]: Parameters<typeof aProcess>): Compiled {
  return compiled(aProcess(pieces, flows, { id }));
}

/** Without what storing it adds. */
export function compiled({ version: _, hash: __, ...process }: Definition): Compiled {
  return process;
}
