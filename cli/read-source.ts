import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Client, Diagnostic } from "../lib/client/index.ts";
import { UsageError } from "./usage-error.ts";

/** A workflow that can be sent, or why it cannot. */
export type ReadSource = Readonly<{ file: string; source: Source }> | BundledSource;

type Source = Parameters<Client["deploy"]>[0];

/** A workflow in code, and what was found in it here; without a bundle there is nothing to ask a server. */
export type BundledSource = Readonly<{
  file: string;
  bundle?: string;
  isRefused: boolean;
  diagnostics: readonly Diagnostic[];
}>;

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
  const { checkedBundle } = await import("../lib/embedded/checked-bundle.ts");
  const folder = resolve(dirname(file));
  const nameOf = (path: string) => join(dirname(file), relative(folder, resolve(folder, path)));
  const { ok, source, diagnostics } = await checkedBundle(resolve(file), nameOf);
  return { file, isRefused: !ok, diagnostics, ...(source !== undefined && { bundle: source }) };
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
