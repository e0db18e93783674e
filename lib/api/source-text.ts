// XML files declare their own encoding. A byte order mark takes precedence over the charset of the
// Content-Type, which takes precedence over the XML declaration; UTF-8 by default. A source that
// was decoded by its declaration is encoded by it again, so that it is returned as it was sent.

import { decodeUtf8 } from "./json-text.ts";
import { refuse } from "./refuse.ts";

/** The text of an XML file. */
export function decodeXml(bytes: Uint8Array, charset?: string): string {
  const mark = BYTE_ORDER_MARKS.find(([, ...first]) => first.every((byte, n) => bytes[n] === byte));
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, LONGEST_DECLARATION));
  const label = mark?.[0] ?? charset ?? declaredEncoding(head) ?? "utf-8";
  const encoding = ENCODINGS.get(label.toLowerCase());
  if (encoding === "utf-8") return decodeUtf8(bytes);
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes);
  throw refuse(
    "request/unsupported-media-type",
    `The encoding ${JSON.stringify(label.slice(0, 40))} is not read here`,
    "body",
    "Save the file as UTF-8; ISO-8859-1 and Windows-1252 are read too.",
  );
}

/** The bytes of an XML file in the encoding that it declares, and the name of that encoding. */
export function encodeXml(text: string): Readonly<{ bytes: Uint8Array; charset: string }> {
  const declared = declaredEncoding(text.slice(0, LONGEST_DECLARATION))?.toLowerCase();
  const isSingleByte = declared !== undefined && ENCODINGS.get(declared) === "windows-1252";
  const bytes = isSingleByte ? encodeWindows1252(text) : undefined;
  if (bytes !== undefined && declared !== undefined) return { bytes, charset: declared };
  return { bytes: new TextEncoder().encode(text), charset: "utf-8" };
}

const BYTE_ORDER_MARKS: readonly (readonly [string, ...number[]])[] = [
  ["utf-8", 0xef, 0xbb, 0xbf],
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
];

/** Browsers and Java alike read ISO-8859-1 as Windows-1252, which only adds to it. */
const ENCODINGS: ReadonlyMap<string, "utf-8" | "windows-1252"> = new Map([
  ["utf-8", "utf-8"],
  ["utf8", "utf-8"],
  ["us-ascii", "utf-8"],
  ["iso-8859-1", "windows-1252"],
  ["latin1", "windows-1252"],
  ["windows-1252", "windows-1252"],
  ["cp1252", "windows-1252"],
]);

const LONGEST_DECLARATION = 200;

function declaredEncoding(head: string): string | undefined {
  return /^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(head)?.[1];
}

function encodeWindows1252(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) {
    const byte = BYTE_OF.get(text.charAt(n));
    if (byte === undefined) return undefined;
    bytes[n] = byte;
  }
  return bytes;
}

const BYTE_OF: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte) => [
    new TextDecoder("windows-1252").decode(Uint8Array.of(byte)),
    byte,
  ]),
);
