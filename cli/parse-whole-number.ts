import { UsageError } from "./usage-error.ts";

/** Parses the value of an option that is a whole number. */
export function parseWholeNumber(
  text: string,
  { option, min, max }: Readonly<{ option: string; min: number; max: number }>,
): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(
    `--${option} is "${text}", but must be a whole number from ${min} to ${max}.`,
  );
}
