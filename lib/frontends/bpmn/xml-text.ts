import { accepted, type Parsed, refused } from "../../definition/parsed.ts";

/** Text between tags, with its character references resolved. */
export function decodeText(raw: string): Parsed<string> {
  if (!raw.includes("&")) return accepted(raw);
  let stray = false;
  const decoded = raw.replace(REFERENCE, (match, decimal, hex, name) => {
    const character = name === undefined ? byNumber(decimal, hex) : NAMED.get(name);
    stray ||= character === undefined;
    return character ?? match;
  });
  if (!stray) return accepted(decoded);
  return refused(
    "an & begins no known character reference",
    "Write &amp; for the character &; of the named references only &amp; &lt; &gt; &quot; and &apos; are known.",
  );
}

/** The value of an attribute: raw tabs and line breaks count as spaces, as XML prescribes. */
export function decodeAttribute(raw: string): Parsed<string> {
  if (raw.includes("<")) {
    return refused("a < stands inside an attribute value", "Write &lt; instead.");
  }
  return decodeText(raw.replace(/[\t\n]/g, " "));
}

/** The last alternative matches an & that no reference follows. */
const REFERENCE = /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));|&/g;

const NAMED: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

function byNumber(decimal: string | undefined, hex: string | undefined): string | undefined {
  if (decimal === undefined && hex === undefined) return undefined;
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const isCharacter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return isCharacter ? String.fromCodePoint(point) : undefined;
}
