import {
  type Computed,
  type Expressions,
  parseComputed,
  problemOf,
} from "../../definition/expression.ts";
import { quoted } from "../../definition/parsed.ts";
import type { TimeZone } from "../../definition/time/time-zone.ts";
import type { Report } from "./report.ts";
import { called } from "./source.ts";
import type { XmlElement } from "./xml.ts";

/** What the parts of one process need to be compiled. */
export type Context = Readonly<{
  report: Report;
  expressions: Expressions;
  /** Finds the element of a reference, in the root of the file and in its executable processes. */
  find(reference: string): XmlElement | undefined;
  /** The zone of every timer without its own. */
  zone?: TimeZone;
  /** The ids of the forms in the process. */
  forms?: ReadonlySet<string>;
}>;

/** A value of the file: its element, its text, and its name in messages. */
export type Written = Readonly<{ at: XmlElement; text: string; as: string }>;

/** Reads a value that may be an expression; an invalid one is refused. */
export function computed(
  { at, text, as }: Written,
  { report, expressions }: Context,
  staticForm: "text" | "typed" = "text",
): Computed | undefined {
  const value = parseComputed(text, staticForm);
  if (value.kind === "static") return value;
  const problem = value.text === "" ? "It is empty." : problemOf(value, expressions);
  if (problem === undefined) return value;
  return report.refuse({
    code: "bpmn/feel-syntax",
    at,
    message: `${called(at)}: the ${as} ${quoted(text)} is not a FEEL expression. ${problem}`,
    hint: "Correct the expression after the equals sign, for example =total > 100.",
  });
}
