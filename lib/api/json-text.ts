// JSON from outside, made safe for everything behind.
// 1. UTF-8 and JSON are read strictly; a fault is told with its position where that is known.
// 2. Nesting is bounded before anything recursive looks at it.
// 3. What would not survive a trip through JSON text is refused: numbers beyond the range of a
//    double, half a surrogate pair. Minus zero becomes zero.
// 4. No object has a member `__proto__`: copying code would lose it or worse.

import { MAX_JSON_DEPTH } from "./limits.ts";
import { type Fault, invalid } from "./refuse.ts";

/** The value that the bytes hold; throws `request/invalid` where they hold none that we take. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (isDeeperThan(text, MAX_JSON_DEPTH)) {
    throw bad(`it is nested more than ${MAX_JSON_DEPTH} deep`);
  }
  const value = parseText(text);
  const faults = faultsIn(value, "");
  if (faults.length > 0) throw invalid(faults);
  return value;
}

/** Reads UTF-8 strictly, keeping a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw bad(`it is not UTF-8 at byte ${firstBadByte(bytes)}`);
  }
}

/** Where strict reading stops: the first replacement character that was not in the bytes. */
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

/** Counts brackets outside strings: JSON.parse has no limit, and what comes after it is recursive. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let n = 0; n < text.length; n++) {
    const character = text[n];
    if (character === '"') inString = !inString;
    else if (inString) n += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth > limit) return true;
  }
  return false;
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

function faultsIn(value: unknown, at: string): readonly Fault[] {
  if (typeof value === "string" && !value.isWellFormed()) {
    return [fault(at, "text holds half a surrogate pair, which is no character")];
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return [fault(at, "the number is out of range: at most 1.7976931348623157e308")];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, entry]) => {
    const place = `${at}/${name.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (name === "__proto__") return [fault(place, "nothing may be called __proto__")];
    if (!name.isWellFormed()) return [fault(place, "a name holds half a surrogate pair")];
    return faultsIn(entry, place);
  });
}

const fault = (at: string, message: string): Fault => ({ in: "body", at, message });

const bad = (message: string) => invalid([fault("", message)]);
