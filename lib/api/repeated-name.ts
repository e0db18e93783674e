/** A member whose name its object has already: where it stands. */
export type RepeatedName = Readonly<{
  name: string;
  /** The JSON pointer of the member. */
  at: string;
  /** Characters of the text before the second of the two. */
  position: number;
}>;

/** A list or an object that is being read; only an object has names. */
type Open = { names?: Set<string>; at: string; part: string; items: number };

/** The first name that an object of this text, which is JSON, has twice. */
export function repeatedNameIn(text: string): RepeatedName | undefined {
  const open: Open[] = [];
  for (let n = 0; n < text.length; n++) {
    const inside = open.at(-1);
    switch (text.charAt(n)) {
      case "{":
      case "[": {
        const at = inside === undefined ? "" : `${inside.at}/${inside.part}`;
        const names = text[n] === "{" ? { names: new Set<string>() } : {};
        open.push({ ...names, at, part: "0", items: 0 });
        break;
      }
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        if (inside && !inside.names) inside.part = String(++inside.items);
        break;
      case '"': {
        const end = endOfString(text, n);
        if (inside?.names && isName(text, end)) {
          const name = String(JSON.parse(text.slice(n, end + 1)));
          inside.part = pointerPart(name);
          const at = `${inside.at}/${inside.part}`;
          if (inside.names.has(name)) return { name, at, position: n };
          inside.names.add(name);
        }
        n = end;
      }
    }
  }
  return undefined;
}

/** A name as a JSON pointer writes it. */
export const pointerPart = (name: string): string =>
  name.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");

/** Where the string that begins at `from` ends; behind the text where it never does. */
export function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

/** A string with a colon behind it is a name. */
function isName(text: string, end: number): boolean {
  BEHIND.lastIndex = end + 1;
  return BEHIND.test(text);
}

const BEHIND = /[ \t\n\r]*:/y;
