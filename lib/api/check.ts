import type { z } from "zod";
import { type Fault, invalid } from "./refuse.ts";

/** The value as its shape describes it; throws `request/invalid` that names every fault. */
export function check<S extends z.ZodType>(
  shape: S,
  value: unknown,
  part: Fault["in"],
  name = "",
): z.output<S> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues.flatMap((issue) => faultsOf(issue, part, name)));
}

function faultsOf(issue: z.core.$ZodIssue, part: Fault["in"], name: string): readonly Fault[] {
  const place = (path: readonly PropertyKey[]) =>
    part === "body" ? pointer(path) : path.map(String).join(".") || name;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      in: part,
      at: place([...issue.path, key]),
      message: `${JSON.stringify(key)} is not known here`,
    }));
  }
  const told = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
  return [{ in: part, at: place(issue.path), message: told ?? messageOf(issue) }];
}

/** Zod's own messages, without the words that say nothing. */
function messageOf({ message, path }: z.core.$ZodIssue): string {
  const name = path.at(-1);
  const told = message.replace(/^Invalid input: /, "");
  return name === undefined ? told : `${String(name)}: ${told}`;
}

function pointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}
