/** Throws unless every given option is known: a misspelt one would be ignored silently. */
export function refuseUnknownOptions<T extends object>(
  where: string,
  options: T,
  known: Readonly<Record<keyof T, true>>,
): void {
  const names = Object.keys(known);
  const stray = Object.entries(options).find(
    ([name, value]) => value !== undefined && !names.includes(name),
  );
  if (stray === undefined) return;
  throw new TypeError(
    `${where} has no option "${stray[0].slice(0, 60)}"; there are ${names.join(", ")}.`,
  );
}
