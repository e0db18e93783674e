import { readFileSync } from "node:fs";
import type { Variables } from "../lib/client/index.ts";
import { UsageError } from "./usage-error.ts";

/** Reads `--variables`: JSON, or `@` and the name of a file that holds it. */
export function parseVariables(given: string): Variables {
  const isFile = given.startsWith("@");
  const where = isFile ? `--variables (${given.slice(1)})` : "--variables";
  const text = isFile ? contentOf(given.slice(1)) : given;
  const value = parseJson(text, where);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Variables;
  }
  throw new UsageError(`${where} is no JSON object. Write the names, as in '{"total":42}'.`);
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`--variables: the file "${file}" cannot be read.`, { cause });
  }
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(
      `${where} is no JSON: ${reason}. Quote it for the shell: --variables '{"total":42}'.`,
      { cause },
    );
  }
}
