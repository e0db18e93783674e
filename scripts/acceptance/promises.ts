/** A row of docs/reference/promises.md: its number, and whether the promise is kept today. */
export type Promised = Readonly<{ number: string; state: string }>;

/** Every row of the page's tables. */
export const promisesIn = (page: string): readonly Promised[] =>
  [...page.matchAll(/^\| ([FRJDST]\d+) \|.*\| (\w+) \|$/gm)].map(([, number = "", state = ""]) => ({
    number,
    state,
  }));

/** The numbers that must have a passing test. */
export const keptIn = (page: string): readonly string[] =>
  promisesIn(page).flatMap(({ number, state }) => (state === "kept" ? [number] : []));
