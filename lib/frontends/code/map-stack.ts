import type { Origin, Origins } from "../../definition/sandbox.ts";
import { parseSourceMap, type SourceMap } from "./source-map.ts";

/** The origins of places in a bundle, by its source map. */
export function originsIn(bundle: string): Origins {
  const map = parseSourceMap(bundle);
  return { originalOf: map.originalOf, stackOf: (stack) => mapStack(stack, map).text };
}

/** A stack with the places of the author's files; `first` is the topmost of these. */
export type MappedStack = Readonly<{ text: string; first?: Origin }>;

/**
 * Replaces places in the bundle by those in the author's files, and leaves out what only the engine
 * and the SDK know.
 */
export function mapStack(stack: string, map: SourceMap): MappedStack {
  let first: Origin | undefined;
  const lines = stack.split("\n").flatMap((line) => {
    const [, before = "", row, column] = FRAME.exec(line) ?? [];
    if (row === undefined || column === undefined) return ENGINE.test(line) ? [] : [line];
    const origin = map.originalOf(Number(row), Number(column));
    if (origin === undefined) return [line];
    if (OWN.test(origin.file)) return [];
    first ??= origin;
    return [`${before}(${origin.file}:${origin.line}:${origin.column})`];
  });
  return { text: lines.join("\n").trimEnd(), ...(first && { first }) };
}

/** A frame in the bundle, with or without the name of its function. */
const FRAME = /^(\s*at (?:.* )?)\(?workflow\.js:(\d+):(\d+)\)?\s*$/;
/** A frame in the engine's own code inside the machine, or in native code. */
const ENGINE = /^\s*at .*(?:\(fermata:\d+:\d+\)|\(native\))\s*$/;
/** Modules that no author wrote: the SDK, and the entry that the bundler adds. */
const OWN = /^fermata-(?:engine|entry):/;
