import { readFileSync } from "node:fs";
import type { Json, Variables } from "../lib/client/index.ts";
import { UsageError } from "./usage-error.ts";

/** Parses the value of an option that is a JSON object, or `@` and the name of a file with one. */
export function parseVariables(given: string, option: string): Variables {
  const value = parseJson(given, option);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Variables;
  }
  throw new UsageError(
    `${placeOf(given, option)} is not a JSON object. Write names and values, as in '{"total":42}'.`,
  );
}

/** Parses the value of an option that is any JSON value, or `@` and the name of a file with one. */
export function parseJson(given: string, option: string): Json {
  const text = given.startsWith("@") ? contentOf(given.slice(1), option) : given;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(
      `${placeOf(given, option)} is not valid JSON: ${reason}. Quote it for the shell: --${option} '{"total":42}'.`,
      { cause },
    );
  }
}

function placeOf(given: string, option: string): string {
  return given.startsWith("@") ? `--${option} (${given.slice(1)})` : `--${option}`;
}

function contentOf(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`--${option}: the file "${file}" cannot be read.`, { cause });
  }
}
