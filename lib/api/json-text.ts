// JSON from requests, validated before anything else sees it.
// 1. UTF-8 and JSON are parsed strictly; an error has its position where that is known.
// 2. Nesting is bounded before any recursive code runs.
// 3. What would not survive a round trip through JSON text is refused: numbers beyond the range of
//    a double, half a surrogate pair. Minus zero becomes zero.
// 4. No object has a member `__proto__`: copying code would lose it or worse.
// 5. No object has two members of one name: two parsers could read different ones. The names are
//    counted in the text and in the value, and searched only where one is missing.

import { quoted } from "../definition/parsed.ts";
import type { Flaw } from "./check.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";
import { type Fault, invalid } from "./refuse.ts";
import { endOfString, pointerPart, repeatedNameIn } from "./repeated-name.ts";

/** The JSON value of the bytes; throws `request/invalid` where it is not accepted. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  const { depth, names } = measure(text);
  if (depth > MAX_JSON_DEPTH) throw bad(`it is nested more than ${MAX_JSON_DEPTH} deep`);
  const value = parseText(text);
  const flaws = textFlawsIn(value).map(({ path, message }) =>
    fault(path.map((part) => `/${pointerPart(String(part))}`).join(""), message),
  );
  const faults = [...(names > namesIn(value) ? repeatedIn(text) : []), ...flaws];
  if (faults.length > 0) throw invalid(faults);
  return value;
}

/** Decodes UTF-8 strictly, keeping a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw bad(`it is not UTF-8 at byte ${firstBadByte(bytes)}`);
  }
}

/** Where strict decoding fails: the first replacement character that was not in the bytes. */
function firstBadByte(bytes: Uint8Array): number {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const encoder = new TextEncoder();
  let offset = 0;
  for (const part of text.split("\uFFFD")) {
    offset += encoder.encode(part).length;
    const wasThere = [0xef, 0xbf, 0xbd].every((byte, n) => bytes[offset + n] === byte);
    if (!wasThere) return offset;
    offset += 3;
  }
  return offset;
}

/**
 * How deep brackets are nested, and how many names there are, outside strings: JSON.parse has no
 * limit, and what comes after it is recursive.
 */
function measure(text: string): Readonly<{ depth: number; names: number }> {
  let depth = 0;
  let deepest = 0;
  let names = 0;
  for (let n = 0; n < text.length; n++) {
    const character = text.charCodeAt(n);
    if (character === QUOTE) n = endOfString(text, n);
    else if (character === COLON) names++;
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth--;
  }
  return { depth: deepest, names };
}

const [QUOTE, COLON] = [0x22, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** How many members all objects of a value have. */
function namesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let names = Array.isArray(value) ? 0 : parts.length;
  for (const part of parts) names += namesIn(part);
  return names;
}

function repeatedIn(text: string): readonly Fault[] {
  const repeated = repeatedNameIn(text);
  if (repeated === undefined) return [];
  const { name, at, position } = repeated;
  return [fault(at, `the object has ${quoted(name)} twice, again at character ${position}`)];
}

function parseText(text: string): unknown {
  try {
    return /-0/.test(text) ? JSON.parse(text, withoutMinusZero) : JSON.parse(text);
  } catch (cause) {
    throw bad(`it is not JSON: ${cause instanceof Error ? cause.message : "unreadable"}`);
  }
}

const withoutMinusZero = (_name: string, value: unknown): unknown =>
  Object.is(value, -0) ? 0 : value;

/** What JSON text cannot or must not hold; paths are built only where there is a problem. */
export function textFlawsIn(value: unknown): readonly Flaw[] {
  if (typeof value === "string" && !value.isWellFormed()) {
    return [here("text holds half a surrogate pair, which is no character")];
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return [here("the number is out of range: at most 1.7976931348623157e308")];
  }
  if (typeof value !== "object" || value === null) return [];
  const flaws: Flaw[] = [];
  for (const [name, entry] of Object.entries(value)) {
    for (const { path, message } of flawsOf(name, entry)) {
      flaws.push({ path: [name, ...path], message });
    }
  }
  return flaws;
}

function flawsOf(name: string, entry: unknown): readonly Flaw[] {
  if (name === "__proto__") return [here("nothing may be called __proto__")];
  if (!name.isWellFormed()) return [here("a name holds half a surrogate pair")];
  return textFlawsIn(entry);
}

const here = (message: string): Flaw => ({ path: [], message });

const fault = (at: string, message: string): Fault => ({ in: "body", at, message });

const bad = (message: string) => invalid([fault("", message)]);
