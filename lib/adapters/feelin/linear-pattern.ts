/**
 * Rewrites a JavaScript pattern (Unicode mode, already validated) for RE2. The two agree on most of
 * the syntax; the differences are written out here: white space, line ends, `.`, escapes, and the
 * brackets of classes. A pattern without an equivalent in RE2 gives undefined.
 */
export function toLinear(pattern: string, flags: string): string | undefined {
  const parts: string[] = [];
  for (let at = 0; at < pattern.length; ) {
    const part = partAt(pattern, at, flags);
    if (part === undefined) return undefined;
    parts.push(part.text);
    at += part.length;
  }
  return parts.join("");
}

type Part = Readonly<{ text: string; length: number }>;

function partAt(pattern: string, at: number, flags: string): Part | undefined {
  const [char = ""] = pattern.slice(at, at + 2);
  switch (char) {
    case "\\":
      return escapeAt(pattern, at, flags);
    case "[":
      return classAt(pattern, at, flags);
    case "(":
      return groupAt(pattern, at);
    case ".":
      return { text: flags.includes("s") ? "(?s:.)" : `[^${LINE_ENDS}]`, length: 1 };
    case "^":
      return { text: flags.includes("m") ? "(?m:^)" : "\\A", length: 1 };
    case "$":
      return { text: flags.includes("m") ? "(?m:$)" : "\\z", length: 1 };
    case "{":
      return { ...matchAt(/\{[\d,]+\}/y, pattern, at) };
    case ")":
    case "|":
    case "*":
    case "+":
    case "?":
      return { text: char, length: 1 };
    default:
      return literal(char.codePointAt(0) ?? 0, char.length);
  }
}

/** Lookahead needs more than one pass; flags of a part of the pattern are not translated. */
function groupAt(pattern: string, at: number): Part | undefined {
  const opening = matchAt(/\((?:\?(?:<[=!]|<[^>]*>|[^<]))?/y, pattern, at);
  return LINEAR_GROUPS.test(opening.text) ? opening : undefined;
}

const LINEAR_GROUPS = /^\((?:\?(?::|<[=!]|<[A-Za-z_]\w*>))?$/;

function escapeAt(pattern: string, at: number, flags: string): Part | undefined {
  const { text, length } = matchAt(ESCAPE, pattern, at);
  if (text === "\\s") return { text: `[${SPACES}]`, length };
  if (text === "\\S") return { text: `[^${SPACES}]`, length };
  if (/^\\[bBdDwW]$/.test(text)) return { text, length };
  if (/^\\[pP]/.test(text)) return property(text, flags);
  const point = codePointOf(text);
  return point === undefined ? undefined : literal(point, length);
}

/** A class: single characters, ranges of them, and escapes for sets of characters. */
function classAt(pattern: string, start: number, flags: string): Part | undefined {
  const isNegated = pattern[start + 1] === "^";
  const items: string[] = [];
  let at = start + (isNegated ? 2 : 1);
  while (pattern[at] !== "]") {
    const item = memberAt(pattern, at, flags);
    if (item === undefined) return undefined;
    at += item.length;
    items.push(item.text);
    if (pattern[at] !== "-" || pattern[at + 1] === "]") continue;
    const end = memberAt(pattern, at + 1, flags);
    if (end === undefined) return undefined;
    at += 1 + end.length;
    items.push("-", end.text);
  }
  const length = at + 1 - start;
  // RE2 treats a bracket directly after the opening one as part of the class.
  if (items.length === 0) return { text: isNegated ? "(?s:.)" : `[^${ANYTHING}]`, length };
  return { text: `[${isNegated ? "^" : ""}${items.join("")}]`, length };
}

function memberAt(pattern: string, at: number, flags: string): Part | undefined {
  const [char = ""] = pattern.slice(at, at + 2);
  if (char !== "\\") return literal(char.codePointAt(0) ?? 0, char.length);
  const { text, length } = matchAt(ESCAPE, pattern, at);
  if (text === "\\b") return literal(8, length);
  if (text === "\\-") return literal(45, length);
  if (text === "\\s") return { text: SPACES, length };
  if (text === "\\S") return { text: NO_SPACES, length };
  return escapeAt(pattern, at, flags);
}

/** General categories by their short names, and scripts; with the flag i the two fold differently. */
function property(text: string, flags: string): Part | undefined {
  const [, sign, name] = /^\\([pP])\{(?:(?:Script|sc)=)?(\w+)\}$/.exec(text) ?? [];
  if (sign === undefined || name === undefined || flags.includes("i")) return undefined;
  if (!text.includes("=") && name.length > 2) return undefined;
  return { text: `\\${sign}{${name}}`, length: text.length };
}

/** The character of an escape; undefined for a back-reference. */
function codePointOf(escaped: string): number | undefined {
  const [, sign = "", rest = ""] = /^\\(.)(.*)$/su.exec(escaped) ?? [];
  switch (sign) {
    case "u":
      return rest.startsWith("{") ? Number.parseInt(rest.slice(1), 16) : unitsToPoint(rest);
    case "x":
      return Number.parseInt(rest, 16);
    case "c":
      return rest.charCodeAt(0) % 32;
    case "0":
      return 0;
    default:
      if (sign in CONTROLS) return CONTROLS[sign];
      return /[\w]/.test(sign) ? undefined : sign.codePointAt(0);
  }
}

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** `D83D\uDE00`, one character in two halves, or four digits alone. */
function unitsToPoint(digits: string): number | undefined {
  const units = digits.split("\\u").map((unit) => Number.parseInt(unit, 16));
  return String.fromCharCode(...units).codePointAt(0);
}

/** Half a character does not exist in RE2. */
function literal(point: number, length: number): Part | undefined {
  if (point >= 0xd800 && point <= 0xdfff) return undefined;
  const char = String.fromCodePoint(point);
  return { text: /[A-Za-z0-9]/.test(char) ? char : `\\x{${point.toString(16)}}`, length };
}

function matchAt(sticky: RegExp, text: string, at: number): Part {
  sticky.lastIndex = at;
  const [found = text.slice(at, at + 1)] = sticky.exec(text) ?? [];
  return { text: found, length: found.length };
}

const ESCAPE =
  /\\(?:u\{[0-9a-f]+\}|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u[0-9a-f]{4}|x[0-9a-f]{2}|c[a-z]|p\{[^}]*\}|[\s\S])/iy;
const LINE_ENDS = "\\n\\r\\x{2028}\\x{2029}";
const ANYTHING = "\\x00-\\x{10ffff}";
const SPACES =
  "\\t-\\r\\x20\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NO_SPACES =
  "\\x00-\\x08\\x0e-\\x1f\\x21-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}" +
  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
