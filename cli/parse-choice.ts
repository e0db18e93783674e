import { UsageError } from "./usage-error.ts";

/** Parses the value of an option with a fixed set of choices. */
export function parseChoice<const T extends string>(
  text: string,
  { option, choices }: Readonly<{ option: string; choices: readonly T[] }>,
): T {
  const choice = choices.find((known) => known === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${option} is "${text}", but must be one of: ${choices.join(", ")}.`);
}
