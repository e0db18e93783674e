import {
  type Evaluation,
  type ExpressionLanguage,
  type Expressions,
  FEEL,
} from "../../definition/expression.ts";
import { compile, type Program } from "./compile.ts";
import { toJson } from "./json-result.ts";
import { MAX_COMPILED_EXPRESSIONS } from "./limits.ts";
import { charge, EvaluationFailed, startRun } from "./run.ts";
import { NotAnExpression } from "./syntax.ts";

/** The languages of an installation: FEEL alone. */
export const feelExpressions = (): Expressions => new Map([[FEEL, feelLanguage()]]);

/** FEEL with Camunda's semantics: pure, bounded, each text compiled once. */
export function feelLanguage(): ExpressionLanguage<Evaluation> {
  const compiled = new Map<string, Compiled>();

  function compiledFrom(text: string): Compiled {
    const known = compiled.get(text);
    const result = known ?? tryCompile(text);
    // A map keeps insertion order: used entries move to the end, unused ones are evicted from the
    // front.
    if (known !== undefined) compiled.delete(text);
    compiled.set(text, result);
    if (compiled.size > MAX_COMPILED_EXPRESSIONS) dropOldest(compiled);
    return result;
  }

  return {
    check: (text) => {
      const result = compiledFrom(text);
      return result.ok ? undefined : result.problem;
    },
    variablesOf: (text) => {
      const result = compiledFrom(text);
      return result.ok ? result.program.reads : [];
    },
    evaluate: (text, lookup, given) => {
      const result = compiledFrom(text);
      return result.ok ? run(text, result.program, startRun(lookup, given)) : result;
    },
  };
}

type Compiled = Readonly<{ ok: true; program: Program } | { ok: false; problem: string }>;

function tryCompile(text: string): Compiled {
  try {
    return { ok: true, program: compile(text) };
  } catch (error) {
    return { ok: false, problem: `${quoted(text)} is no FEEL expression: ${reason(error)}.` };
  }
}

function run(text: string, { code }: Program, scope: ReturnType<typeof startRun>): Evaluation {
  try {
    charge(scope.run, 1 + (text.length >> 4));
    const value = toJson(code(scope), scope.run);
    return { ok: true, value, warnings: scope.run.warnings };
  } catch (error) {
    return { ok: false, problem: `${quoted(text)} could not be evaluated: ${reason(error)}.` };
  }
}

function reason(error: unknown): string {
  if (error instanceof EvaluationFailed || error instanceof NotAnExpression) return error.message;
  // Thrown by V8 when the stack is full: most likely a function that calls itself endlessly.
  if (error instanceof RangeError) return "it goes too deep, or builds something too large";
  return error instanceof Error ? error.message : String(error);
}

function quoted(text: string): string {
  return `\`${text.length > 200 ? `${text.slice(0, 200)}…` : text}\``;
}

function dropOldest(compiled: Map<string, Compiled>): void {
  for (const text of compiled.keys()) {
    compiled.delete(text);
    return;
  }
}
