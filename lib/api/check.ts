import type { z } from "zod";
import { EngineError } from "../ports/engine-error.ts";
import { flawText } from "./flaw-text.ts";
import { type Fault, invalid } from "./refuse.ts";

/** One problem of a value, and its path. */
export type Flaw = Readonly<{ path: readonly PropertyKey[]; message: string }>;

/** The value as its shape describes it; throws `request/invalid` that names every fault. */
export function check<S extends z.ZodType>(
  shape: S,
  value: unknown,
  part: Fault["in"],
  name = "",
): z.output<S> {
  const parsed = parse(shape, value);
  if ("value" in parsed) return parsed.value;
  throw invalid(parsed.flaws.map((flaw) => faultOf(flaw, part, name)));
}

/**
 * What `all` gives, which checks each of these parts; throws `request/invalid` that names the faults of
 * every part. A part that is refused for another reason, such as its size, has none.
 */
export function checkEach<T>(parts: readonly (() => unknown)[], all: () => T): T {
  try {
    return all();
  } catch (cause) {
    const faulty = isInvalid(cause) ? parts.map(faultsOf).filter(({ length }) => length > 0) : [];
    throw faulty.length > 1 ? invalid(faulty.flat()) : cause;
  }
}

function faultsOf(part: () => unknown): readonly Fault[] {
  try {
    part();
    return [];
  } catch (cause) {
    return isInvalid(cause) ? cause.details : [];
  }
}

/** Of this code every error has its faults as details. */
const isInvalid = (
  cause: unknown,
): cause is EngineError & Readonly<{ details: readonly Fault[] }> =>
  cause instanceof EngineError && cause.code === "request/invalid";

/** The value as its shape describes it, or everything that is wrong with it. */
export function parse<S extends z.ZodType>(
  shape: S,
  value: unknown,
): Readonly<{ value: z.output<S> } | { flaws: readonly Flaw[] }> {
  const parsed = shape.safeParse(value);
  return parsed.success ? { value: parsed.data } : { flaws: parsed.error.issues.flatMap(flawsOf) };
}

function flawsOf(issue: z.core.$ZodIssue): readonly Flaw[] {
  const { code, path } = issue;
  if (code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `${JSON.stringify(key)} is not known here`,
    }));
  }
  const told = code === "invalid_key" ? issue.issues[0]?.message : undefined;
  if (told !== undefined) return [{ path, message: told }];
  const message = flawText(issue);
  const name = path.at(-1);
  return [{ path, message: name === undefined ? message : `${String(name)}: ${message}` }];
}

function faultOf({ path, message }: Flaw, part: Fault["in"], name: string): Fault {
  const at = part === "body" ? pointer(path) : path.map(String).join(".") || name;
  return { in: part, at, message };
}

function pointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}
