import type { LambdaClient } from "@aws-sdk/client-lambda";
import type { Compilation, Compiler } from "../../definition/diagnostic.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { invoke } from "./invoke.ts";

type Options = Readonly<{ client: LambdaClient; functionName: string; notation: string }>;

/** A compiler in a separate function, because parsers are heavy and deployments rare. */
export function remoteCompiler({ client, functionName, notation }: Options): Compiler {
  return async (source) => {
    const payload = { notation, source };
    const answer = await invoke({ client, functionName, payload }).catch((cause: unknown) => {
      throw unavailable(functionName, String(cause), cause);
    });
    if ("error" in answer) throw unavailable(functionName, String(answer.error.errorMessage));
    if (isCompilation(answer.value)) return answer.value;
    throw unavailable(functionName, "its answer is no compilation");
  };
}

/** It is the engine's own function, so a shallow check is enough. */
function isCompilation(value: unknown): value is Compilation {
  if (typeof value !== "object" || value === null || !("ok" in value)) return false;
  if (!("diagnostics" in value && Array.isArray(value.diagnostics))) return false;
  return value.ok === false || ("processes" in value && Array.isArray(value.processes));
}

function unavailable(functionName: string, why: string, cause?: unknown): EngineError {
  return new EngineError("compiler/unavailable", {
    happened: "The source could not be compiled now",
    where: `function ${functionName}; ${why}`,
    fix: "Deploy again. If this goes on, the log of that function says why.",
    cause,
  });
}
