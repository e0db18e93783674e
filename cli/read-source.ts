import { readFileSync } from "node:fs";
import type { Client } from "../lib/client/index.ts";
import { UsageError } from "./usage-error.ts";

/** Reads a workflow; BPMN is sent as bytes, because the file declares its own encoding. */
export function readSource(file: string): Parameters<Client["deploy"]>[0] {
  const bytes = bytesOf(file);
  const isJourney = /\.ya?ml$/i.test(file);
  return isJourney ? { notation: "journey", source: bytes.toString("utf8") } : bytes;
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be read. Check its name.`, { cause });
  }
}
