import type { Origin } from "../../definition/sandbox.ts";
import { decodeMappings, type Segment } from "./mappings.ts";

/** Leads from places in a bundle to the author's files. */
export type SourceMap = Readonly<{
  /** Line and column count from 1; undefined where the bundle does not say. */
  originalOf(line: number, column: number): Origin | undefined;
}>;

const MARK = "//# sourceMappingURL=data:application/json";

/** Reads the source map in the last comment of a bundle; one that is missing or malformed knows no place. */
export function parseSourceMap(bundle: string): SourceMap {
  const map = readMap(bundle);
  if (map === undefined) return { originalOf: () => undefined };
  const lines = decodeMappings(map.mappings);
  return {
    originalOf(line, column) {
      const segment = lastBefore(lines[line - 1] ?? [], column - 1);
      const file = segment === undefined ? undefined : map.sources[segment.source];
      if (segment === undefined || typeof file !== "string") return undefined;
      return { file, line: segment.line + 1, column: segment.sourceColumn + 1 };
    },
  };
}

type RawMap = Readonly<{ sources: readonly unknown[]; mappings: string }>;

function readMap(bundle: string): RawMap | undefined {
  const start = bundle.lastIndexOf(MARK);
  const comma = start < 0 ? -1 : bundle.indexOf(",", start);
  if (comma < 0 || !bundle.slice(start, comma).endsWith(";base64")) return undefined;
  const end = bundle.indexOf("\n", comma);
  const encoded = bundle.slice(comma + 1, end < 0 ? undefined : end);
  try {
    const bytes = Uint8Array.from(atob(encoded.trim()), (one) => one.charCodeAt(0));
    return rawMapOf(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

function rawMapOf(value: unknown): RawMap | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { version, sources, mappings } = value as Record<string, unknown>;
  if (version !== 3 || !Array.isArray(sources) || typeof mappings !== "string") return undefined;
  return { sources, mappings };
}

/** The last segment that begins at a column or before it. */
function lastBefore(segments: readonly Segment[], column: number): Segment | undefined {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segments[middle]?.column ?? 0) <= column) low = middle + 1;
    else high = middle;
  }
  return segments[low - 1];
}
