import type { Program } from "@babel/types";
import type { Diagnostic } from "../../definition/diagnostic.ts";
import { findingOf } from "./globals.ts";
import { diagnosticsOf, type Finding } from "./report.ts";
import { parseSourceMap, type SourceMap } from "./source-map.ts";
import { resolveNames } from "./syntax/names.ts";
import { isStackOverflow, type ParsedCode, parseCode } from "./syntax/parse.ts";
import { childrenOf, type Node } from "./syntax/tree.ts";
import { LOCALE_METHODS } from "./unavailable.ts";

/**
 * What would fail, or behave unexpectedly, when a bundle runs in the sandbox; all of it at once,
 * by the author's files and lines. Never throws, whatever the text.
 */
export function analyseBundle(source: string): readonly Diagnostic[] {
  const map = parseSourceMap(source);
  const parsed = parseCode(source, { kind: "script" });
  if (!parsed.ok) return diagnosticsOf([unreadable(parsed)], map);
  try {
    return diagnosticsOf(findingsIn(parsed.file.program, map), map);
  } catch (error) {
    if (isStackOverflow(error)) return diagnosticsOf([TOO_DEEP], map);
    throw error;
  }
}

const TOO_DEEP: Finding = {
  severity: "error",
  code: "code/too-deep",
  line: 1,
  column: 1,
  message: "The code is nested too deeply to be checked.",
  hint: "Split the deepest expression into several, or keep large values out of the code.",
};

function unreadable(parsed: Extract<ParsedCode, { ok: false }>): Finding {
  if (parsed.why === "too-deep") return TOO_DEEP;
  return {
    severity: "error",
    code: "code/malformed-bundle",
    line: parsed.line,
    column: parsed.column,
    message: `The bundle is not a JavaScript program: ${parsed.problem.replace(/\.$/, "")}.`,
    hint: "Bundle the workflow with `fermata deploy`, or write a script without imports and exports.",
  };
}

/** By place in the bundle; the SDK's own code is not the author's to change. */
function findingsIn(program: Program, map: SourceMap): readonly Finding[] {
  const fileAt = ({ line, column }: Place) => map.originalOf(line, column)?.file;
  const isSdk = (place: Place) => isOfSdk(fileAt(place));
  const declaredInSdk = (node: Node) => isSdk(placeOf(node));
  const isAuthors = (node: Node) => fileAt(placeOf(node)) !== undefined;
  const names = resolveNames(program);
  const findings = [
    ...names.references.map((reference) =>
      findingOf(reference, { names, declaredInSdk, isAuthors }),
    ),
    ...syntaxFindings(program),
  ];
  return findings
    .filter((finding) => finding !== undefined)
    .filter((finding) => !isSdk(finding))
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
}

type Place = Readonly<{ line: number; column: number }>;

function placeOf({ loc }: Node): Place {
  return { line: loc?.start.line ?? 1, column: (loc?.start.column ?? 0) + 1 };
}

/** The bundler names the SDK's files so; a bundle by another tool has them in the package. */
function isOfSdk(file: string | undefined): boolean {
  return file !== undefined && /^fermata-engine:|(?:^|\/)node_modules\/fermata-engine\//.test(file);
}

/** What is refused or warned of by its syntax alone. */
function syntaxFindings(node: Node, found: Finding[] = []): readonly Finding[] {
  if (node.type === "ImportExpression") found.push({ ...DYNAMIC_IMPORT, ...placeOf(node) });
  const method = calledMethod(node);
  if (method !== undefined && LOCALE_METHODS.has(method)) {
    found.push({ ...locale(method), ...placeOf(node) });
  }
  for (const child of childrenOf(node)) syntaxFindings(child, found);
  return found;
}

function calledMethod(node: Node): string | undefined {
  if (node.type !== "CallExpression" && node.type !== "OptionalCallExpression") return undefined;
  const { callee } = node;
  if (callee.type !== "MemberExpression" && callee.type !== "OptionalMemberExpression") {
    return undefined;
  }
  return callee.property.type === "Identifier" && !callee.computed
    ? callee.property.name
    : undefined;
}

const DYNAMIC_IMPORT = {
  severity: "error",
  code: "code/dynamic-import",
  message: "A workflow cannot load a module while it runs with `import()`.",
  hint: "Import the module at the top of the file, or do it in a step.",
} as const;

const locale = (method: string) =>
  ({
    severity: "warning",
    code: "code/locale",
    message: `\`${method}\` ignores the locale in a workflow, where there is no locale data.`,
    hint: "Format for readers in a step.",
  }) as const;
