import { EngineError } from "../ports/engine-error.ts";

/** Every option, by its name: a new option of the type does not compile until it is added here. */
export type KnownOptions<T> = Readonly<Record<keyof T, true>>;

/** Throws unless every given option is known: a misspelt one would be ignored silently. */
export function refuseUnknownOptions<T extends object>(
  where: string,
  options: T,
  known: KnownOptions<T>,
): void {
  const names = Object.keys(known);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || names.includes(name)) continue;
    throw new EngineError("engine/misconfigured", {
      happened: `The option "${name.slice(0, 60)}" is not known`,
      where,
      fix: `Leave it out, or correct its name; there are ${names.join(", ")}.`,
    });
  }
}
