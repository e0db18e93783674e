import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Client, Diagnostic } from "../lib/client/index.ts";
import { UsageError } from "./usage-error.ts";

/** A workflow that can be sent, or why it cannot. */
export type ReadSource = Readonly<
  | { file: string; source: Parameters<Client["deploy"]>[0] }
  | { file: string; bundle: string; warnings: readonly Diagnostic[] }
  | { file: string; diagnostics: readonly Diagnostic[] }
>;

/** Reads a workflow. BPMN is sent as bytes, because the file declares its own encoding; code is bundled. */
export async function readSource(file: string): Promise<ReadSource> {
  const bytes = bytesOf(file);
  if (/\.[mc]?[jt]s$/i.test(file)) return bundled(file);
  const isJourney = /\.ya?ml$/i.test(file);
  return {
    file,
    source: isJourney ? { notation: "journey", source: bytes.toString("utf8") } : bytes,
  };
}

/** The bundler takes time to load; other files do without it. */
async function bundled(file: string): Promise<ReadSource> {
  const { bundleWorkflows } = await import("../lib/bundler/bundle-workflows.ts");
  const result = await bundleWorkflows(resolve(file));
  if (!result.ok) return { file, diagnostics: result.diagnostics };
  return { file, bundle: result.source, warnings: result.diagnostics };
}

/** A server names the files of a bundle by the folder of the file that was bundled. */
export const placedBeside = <D extends object>(file: string, told: D): D =>
  "file" in told && typeof told.file === "string"
    ? { ...told, file: join(dirname(file), told.file) }
    : told;

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be read. Check its name.`, { cause });
  }
}
