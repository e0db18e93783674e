/** What a parser makes of an author's text: the value, or what is wrong and what to write instead. */
export type Parsed<T> = Readonly<
  { ok: true; value: T } | { ok: false; problem: string; hint: string }
>;

/** The text was understood. */
export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** The text was not understood; both sentences are shown to its author as they are. */
export function refused(problem: string, hint: string): Parsed<never> {
  return { ok: false, problem, hint };
}

/** The value of a text that was checked before. */
export function checkedValue<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`${parsed.problem} ${parsed.hint}`);
}

/** The author's text in quotes, cut so that a message never grows with what it complains about. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}

const LONGEST_QUOTE = 60;
