import * as z from "zod";
import { type Flaw, parse } from "../api/check.ts";
import { textFlawsIn } from "../api/json-text.ts";
import { EngineError } from "../ports/engine-error.ts";

/** A shape for each argument of a call, by its name. */
type Shapes = Readonly<Record<string, z.ZodType>>;

type Outputs<S extends Shapes> = Readonly<{ [K in keyof S]: z.output<S[K]> }>;

/**
 * The arguments as their shapes describe them; throws `request/invalid` that lists every problem. A
 * setting has its own path, without the name of the argument that holds it.
 */
export function checkArguments<S extends Shapes>(
  shapes: S,
  given: Readonly<Record<keyof S, unknown>>,
): Outputs<S> {
  const wrong: Problem[] = [];
  const outputs: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const parsed = parse(shape, given[name]);
    if ("value" in parsed) outputs[name] = parsed.value;
    else wrong.push(...parsed.flaws.map((flaw) => problemOf(flaw, name)));
  }
  if (wrong.length === 0) return outputs as Outputs<S>;
  throw refusal(wrong);
}

type Problem = Readonly<{ path: string; message: string }>;

const problemOf = ({ path, message }: Flaw, name: string): Problem =>
  path.length === 0
    ? { path: name, message: `${name}: ${message}` }
    : { path: path.map(String).join("."), message };

function refusal(wrong: readonly Problem[]): EngineError {
  return new EngineError("request/invalid", {
    happened: wrong.map(({ message }) => message.replace(/\.$/, "")).join("; "),
    where: wrong.map(({ path }) => path).join(", "),
    fix: "Correct everything that is listed; the types of the package say what the call takes. Nothing was done.",
    details: wrong,
  });
}

/** Settings in which undefined means omitted. */
export function settings<S extends z.ZodType>(shape: S) {
  return z.preprocess(withoutUndefined, shape);
}

/** A request that would be the body of an HTTP request. */
export const body = <S extends z.ZodType>(shape: S) => settings(asFromJson(shape));

/** A value that JSON text could hold; its texts are checked once the shape has ruled out cycles. */
function asFromJson<S extends z.ZodType>(shape: S) {
  return z.unknown().transform((given, context): z.output<S> => {
    const parsed = shape.safeParse(given);
    if (!parsed.success) {
      context.issues.push(...(parsed.error.issues as z.core.$ZodRawIssue[]));
      return z.NEVER;
    }
    for (const { path, message } of textFlawsIn(given)) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
    return parsed.data;
  });
}

function withoutUndefined(given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
