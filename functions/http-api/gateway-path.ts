/**
 * The path of a request, percent-encoded again. An HTTP API passes it decoded, so an id with a
 * slash looks like two parts. Only one path of the API matches in the end: only the last parameter
 * of a path holds free text, and what may follow it is known.
 *
 * Two characters do not survive an HTTP API: it cuts the path at an encoded question mark, and
 * refuses or decodes a second time what follows an encoded percent sign. A REST API keeps both.
 */
export function encodedPath(decoded: string, method: string): string {
  const parts = decoded.split("/");
  const known = FREE_TEXT.find(
    ({ methods, before }) => methods.includes(method) && decoded.startsWith(before),
  );
  if (known === undefined) return parts.map(encodePart).join("/");
  const rest = decoded.slice(known.before.length);
  const after = known.after !== undefined && rest.endsWith(known.after) ? known.after : "";
  return `${known.before}${encodePart(rest.slice(0, rest.length - after.length))}${after}`;
}

type FreeText = Readonly<{ methods: readonly string[]; before: string; after?: string }>;

/** Where an id or a name may hold a slash; all other ids have none by their own rules. */
const FREE_TEXT: readonly FreeText[] = [
  { methods: ["GET", "HEAD"], before: "/v1/signals/" },
  { methods: ["GET", "HEAD", "PUT"], before: "/v1/event-types/" },
  { methods: ["POST"], before: "/v1/dead-letters/", after: "/replay" },
  { methods: ["DELETE"], before: "/v1/dead-letters/" },
];

/** An encoded percent sign may have been left as it was; a colon needs no code in a path. */
const encodePart = (part: string): string =>
  encodeURIComponent(part.replaceAll("%25", "%").toWellFormed()).replaceAll("%3A", ":");
