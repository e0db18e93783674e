import { UsageError } from "./usage-error.ts";

/** Reads the value of an option that is one of a few words. */
export function parseChoice<const T extends string>(
  text: string,
  { option, choices }: Readonly<{ option: string; choices: readonly T[] }>,
): T {
  const choice = choices.find((known) => known === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${option} is "${text}", but must be one of: ${choices.join(", ")}.`);
}
