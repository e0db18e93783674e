import type { Notation } from "../../lib/definition/definition.ts";
import type { Compilation, Compiler } from "../../lib/definition/diagnostic.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";

/** The event of the function: the text to compile. */
export type CompileRequest = Readonly<{ notation: Notation; source: string }>;

/** The API calls this, because parsers are heavy and most calls need none. */
export function compile(
  compilers: Readonly<Partial<Record<string, Compiler>>>,
): (event: unknown) => Promise<Compilation> {
  return async (event) => {
    const { notation, source } = parseRequest(event);
    const compiler = compilers[notation];
    if (compiler === undefined) throw refused(`notation ${notation}`);
    return compiler(source);
  };
}

function parseRequest(event: unknown): Readonly<{ notation: string; source: string }> {
  const { notation, source }: Partial<Record<keyof CompileRequest, unknown>> = Object(event);
  if (typeof notation === "string" && typeof source === "string") return { notation, source };
  throw refused("an event without notation and source");
}

function refused(where: string): EngineError {
  return new EngineError("engine/misconfigured", {
    happened: "The function was asked for what it does not compile",
    where,
    fix: "Deploy the functions of one version together.",
  });
}
